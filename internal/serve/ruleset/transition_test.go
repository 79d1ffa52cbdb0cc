package ruleset_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// A replica that starts with transitional rules converts by them, and keeps what others need that
// do not have them.
func TestStarted(t *testing.T) {
	t.Parallel()
	plain := rulesettest.Conversion("Widget", "width")
	for rules, want := range map[string]bool{plain: false, strings.Replace(plain, ".spec.size}", ".spec.size, transitional: true}", 1): true} {
		set, err := ruleset.Compiled{}.Load(t.Context(),
			[]ruleset.File{{Name: "rules.yaml", Text: []byte(rules)}}, []ruleset.File{{Name: "crd.yaml", Text: []byte(rulesettest.CRD("Widget"))}})
		if err != nil || len(set.Errors()) > 0 {
			t.Fatal(err, set.Findings)
		}
		registry, err := set.Started(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		obj, err := jsondoc.ParseObject([]byte(`{"metadata":{"name":"a","uid":"u"},"spec":{"size":3}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := registry.Kinds()[0].Convert(t.Context(), obj, "v1", "v1beta1"); err != nil {
			t.Fatal(err)
		}
		text := string(obj.Text())
		if !strings.Contains(text, `"width":3`) || strings.Contains(text, "conversion.webhookd.io/v1.spec.size") != want {
			t.Errorf("%s\n%s", rules, text)
		}
	}
}
