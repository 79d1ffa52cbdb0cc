package annotation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A replica gets the entries that are for its rules.
func TestMark(t *testing.T) {
	t.Parallel()
	entry := func(value string) []*Entry {
		return []*Entry{{Path: Path{{Name: "spec"}, {Name: "a"}}, Value: []byte(value), Around: 1}}
	}
	tests := map[string]struct {
		mark   Mark
		others []*Entry
		old    string // what a replica with the rules "old" gets
		other  string // what one with other rules gets
	}{
		"no other rules":       {Mark{Rules: "new", Kept: entry("1")}, nil, "1", "1"},
		"other entries":        {Mark{Rules: "new", For: "old", Kept: entry("1")}, entry("2"), "2", "1"},
		"none of them":         {Mark{Rules: "new", For: "old", Kept: entry("1")}, nil, "", "1"},
		"too large for both":   {Mark{Rules: "new", For: "old", Kept: entry("1")}, entry(`"` + strings.Repeat("x", maxTotal/2) + `"`), "1", "1"},
		"nothing kept by them": {Mark{Rules: "new", For: "old"}, entry("2"), "2", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj := parseTest(t, `{"spec":{}}`)
			if err := Put(t.Context(), obj, "v1", tt.mark.Entries(tt.others)); err != nil {
				t.Fatal(err)
			}
			if got := MarkOf(obj, "v1").Rules; got != "new" {
				t.Errorf("rules %q", got)
			}
			m := &Memory{}
			kept, err := Take(obj, Versions{From: "v2", To: "v1", All: []string{"v1", "v2"}}, m)
			if err != nil || string(obj.Text()) != `{"spec":{},"metadata":{}}` {
				t.Errorf("%s is left: %v", obj.Text(), err)
			}
			for rules, want := range map[string]string{"old": tt.old, "new": tt.other, "newer": tt.other} {
				got := ""
				for _, e := range m.For(rules, kept) {
					got += string(e.Value)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("with the rules %s (-want +got):\n%s", rules, diff)
				}
			}
		})
	}
}

// What clients write in place of a mark is no mark.
func TestMalformedMarks(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`1`, `{"value":1}`, `{"value":{"rules":1}}`, `{"value":{"rules":"a","kept":1}}`, `{"absent":true}`, `{"value":{"other":1}}`} {
		obj := parseTest(t, `{"metadata":{"annotations":{"conversion.webhookd.io/v1.kind":`+string(jsondoc.AppendString(nil, value))+`,"conversion.webhookd.io/v1.spec.a":"{\"value\":1}"}}}`)
		if got := MarkOf(obj, "v1").Rules; got != "" {
			t.Errorf("%s: rules %q", value, got)
		}
		m := &Memory{}
		kept, err := Take(obj, Versions{From: "v2", To: "v1", All: []string{"v1", "v2"}}, m)
		if entries := m.For("a", kept); err != nil || len(entries) != 1 || string(entries[0].Value) != "1" {
			t.Errorf("%s: %d entries are left, %v", value, len(entries), err)
		}
	}
}
