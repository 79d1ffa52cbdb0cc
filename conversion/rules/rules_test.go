package rules_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/crdconvert/webhookd/conversion/rules"
)

// What Load cannot use is an error that names it.
func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	files := func(texts ...string) fs.FS {
		all := fstest.MapFS{}
		for i, text := range texts {
			all[string(rune('a'+i))+".yaml"] = &fstest.MapFile{Data: []byte(text)}
		}
		return all
	}
	same := func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) { return in, nil }
	for name, test := range map[string]struct {
		files     fs.FS
		functions map[string]rules.Function
		want      string
	}{
		"no files":             {nil, nil, "rules.Load: no files"},
		"an empty folder":      {files(), nil, "rules.Load: the files have no rules"},
		"a CRD alone":          {files(crd), nil, "rules.Load: the files have no rules"},
		"rules alone":          {files(widgets), nil, "a.yaml:4:"},
		"rules twice":          {files(crd, widgets, widgets), nil, "c.yaml:4:"},
		"no YAML":              {files(crd, widgets, "{"), nil, "c.yaml:2: not YAML"},
		"a field that is none": {files(crd, strings.Replace(widgets, ".spec.name", ".spec.nane", 1)), nil, "b.yaml:11:"},
		"a function that none is": {
			files(crd, widgets+"      go: example.com/upper\n"), nil, "b.yaml:12:",
		},
		"a function without ToSpoke": {
			files(crd, widgets), map[string]rules.Function{"example.com/f": {ToHub: same}}, "rules.Load: function without ToHub or ToSpoke: example.com/f",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := rules.Load(t.Context(), test.files, test.functions)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
