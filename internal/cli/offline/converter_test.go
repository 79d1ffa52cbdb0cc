package offline

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// A document is converted as a whole or not at all, and its items say what became of each object.
func TestDocument(t *testing.T) {
	t.Parallel()
	const (
		port  = `{"apiVersion":"example.com/v1","kind":"CronTab","port":"80"}`
		whole = `{"apiVersion":"example.com/v1","kind":"CronTab","host":"a","port":"80"}`
		other = `{"apiVersion":"v1","kind":"ConfigMap"}`
		list  = `{"apiVersion":"v1","kind":"List","items":[` + whole + "," + other + "]}"
		noted = "kept from v1: .host was absent"
	)
	to := Goal{Version: "v1beta1"}
	others, discard := Goal{Version: "v1beta1", Others: true}, Goal{Version: "v1beta1", Discard: true}
	type outcome struct{ Text, Err, Said string }
	for name, tt := range map[string]struct {
		text string
		goal Goal
		want outcome
	}{
		"an object":            {whole, to, outcome{`{"apiVersion":"example.com/v1beta1","kind":"CronTab","hostPort":"a:80","metadata":{}}`, "", "example.com/v1 -> example.com/v1beta1: nothing had to be kept"}},
		"kept values":          {port, to, outcome{`{"apiVersion":"example.com/v1beta1","kind":"CronTab","hostPort":":80","metadata":{"annotations":{"conversion.webhookd.io/v1.host":"{\"absent\":true,\"inputs\":\"1bb4vji0dn7bk\"}"}}}`, "", noted}},
		"discarded values":     {port, discard, outcome{`{"apiVersion":"example.com/v1beta1","kind":"CronTab","hostPort":":80","metadata":{}}`, "", noted}},
		"a list with another":  {list, to, outcome{"", "items[1]: no converter for ConfigMap, webhookd has CronTab.example.com, CronTab.stable.example.com, Database.example.com", "items[0]: example.com/v1 -> example.com/v1beta1: nothing had to be kept"}},
		"another that stays":   {list, others, outcome{`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"example.com/v1beta1","kind":"CronTab","hostPort":"a:80","metadata":{}},` + other + "]}", "", "items[0]: example.com/v1 -> example.com/v1beta1: nothing had to be kept"}},
		"a kind that stays":    {other, others, outcome{other, "", ""}},
		"no object":            {`[1]`, others, outcome{`[1]`, "", ""}},
		"a group of --to":      {whole, Goal{Group: "other.example.com", Version: "v1"}, outcome{"", "CronTab.example.com: group of the object differs from that of --to, which may be the version alone", ""}},
		"a version of no kind": {whole, Goal{Version: "v7"}, outcome{"", "CronTab.example.com: no converter to version v7, use one of v1beta1, v1", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := ruleset.Compiled{Kinds: exampletest.Kinds()}.Load(t.Context(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			c, err := New(&voice.Program{Stderr: io.Discard}, &set)
			if err != nil {
				t.Fatal(err)
			}
			text, items, err := c.Document(t.Context(), []byte(tt.text), tt.goal)
			got := outcome{Text: string(text)}
			if err != nil {
				got.Err = err.Error()
			}
			lines, err := c.Report(t.Context(), items, tt.goal.Version)
			if err != nil {
				t.Error(err)
			}
			got.Said = strings.Join(lines, "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
