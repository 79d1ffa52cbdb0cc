package hold

import "testing"

// Each law has one row, which says what it has to.
func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[Law]bool{}
	for _, row := range Table() {
		switch {
		case seen[row.Law] || row.Says == "":
			t.Errorf("%s: a row twice, or without a sentence", row.Law)
		case (row.stage == elsewhere) != (row.holds == nil):
			t.Errorf("%s: held at stage %d, by a function: %t", row.Law, row.stage, row.holds != nil)
		case (row.Check == "") != (row.Otherwise == "") || row.Check == "" && (row.sample != nil || row.judge != nil):
			t.Errorf("%s: half of a check", row.Law)
		}
		seen[row.Law] = true
	}
	for _, law := range []Law{
		RoundTrip, Edit, Visible, Hub, Identity, Prune, Total, Deterministic, Hidden, WellFormed, Metadata, Source, SameAnswer, LargeNumbers,
	} {
		if !seen[law] {
			t.Errorf("%s: no row", law)
		}
	}
}
