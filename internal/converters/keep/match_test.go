package keep

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// A list is written as a word here, with a letter for each element. The same letter is the same
// element. In upper case it is another one that is alike.
func TestMatchElements(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		was, kept string // the list that was shown, and its elements with kept values: a dot for each other one
		now       string
		want      []int // the present index of each element with kept values
	}{
		"nothing changed":                             {"abc", "abc", "abc", []int{0, 1, 2}},
		"edited at its place":                         {"abc", "abc", "aBc", []int{0, 1, 2}},
		"replaced at its place":                       {"abc", "abc", "axc", []int{0, -1, 2}},
		"all are edited at their places":              {"abc", "abc", "ABC", []int{0, 1, 2}},
		"removed at the beginning":                    {"abc", "abc", "bc", []int{-1, 0, 1}},
		"added at the beginning":                      {"abc", "abc", "xabc", []int{1, 2, 3}},
		"added in between":                            {"abc", "abc", "axbyc", []int{0, 2, 4}},
		"removed at one end and added at the other":   {"abc", "abc", "bcx", []int{-1, 0, 1}},
		"two have changed places":                     {"ab", "ab", "ba", []int{1, 0}},
		"the last one goes to the beginning":          {"abc", "abc", "cab", []int{1, 2, 0}},
		"out of order in a longer list":               {"abc", "abc", "cxab", []int{2, 3, 0}},
		"edited between two others, which have moved": {"abc", "abc", "xaBc", []int{1, 2, 3}},
		"edited behind the last one that is the same": {"abc", "abc", "xabC", []int{1, 2, 3}},
		"edited, and another one comes before it":     {"abc", "abc", "axBc", []int{0, 2, 3}},
		"edited, and another one comes behind it":     {"abc", "abc", "aBxc", []int{0, 1, 3}},
		"edited, and another one goes":                {"abcd", "ab.d", "aBd", []int{0, -1, 2}},
		"replaced between two others":                 {"abc", "abc", "yaxc", []int{1, -1, 3}},
		"all are removed":                             {"abc", "abc", "", []int{-1, -1, -1}},
		"all are added":                               {"", "", "abc", []int{}},
		"identical ones at their places":              {"aaa", ".a.", "aaa", []int{1}},
		"fewer identical ones":                        {"aaa", ".aa", "aa", []int{0, 1}},
		"more identical ones":                         {"aa", "aa", "aaaa", []int{0, 1}},
		"some have kept values":                       {"abcd", ".b.d", "aBcd", []int{1, 3}},
		"some have kept values, and move":             {"abcd", ".b.d", "bdac", []int{0, 1}},
		"some have kept values, and a neighbour goes": {"abcd", ".b.d", "bcd", []int{0, 2}},
		"edited behind one that moves":                {"abcd", ".bc.", "xabCd", []int{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, now := &annotation.ListEntry{Length: len(test.was)}, make([]annotation.Digest, len(test.now))
			for i := range test.now {
				now[i] = annotation.DigestOf(uint64(test.now[i]))
			}
			for i := range test.kept {
				if test.kept[i] != '.' {
					l.Elements = append(l.Elements, &annotation.Element{Index: i, Was: annotation.DigestOf(uint64(test.was[i]))})
				}
			}
			m, err := matchElements(l, now, func(k, i int) bool {
				return strings.EqualFold(test.was[l.Elements[k].Index:][:1], test.now[i:][:1])
			}, newDeadline(t.Context()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, m.at); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for i, k := range m.from {
				if k >= 0 && m.at[k] != i {
					t.Errorf("element %d is of %d, which is at %d", i, k, m.at[k])
				}
			}
		})
	}
}
