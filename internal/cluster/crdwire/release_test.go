package crdwire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

func TestNeedOf(t *testing.T) {
	t.Parallel()
	here := webhookConversion(`{"service":{"namespace":"ns","name":"webhookd"}}`)
	one := func(text string) string {
		return strings.Replace(text, `{"name":"v2","served":true},`, `{"name":"v2"},`, 1)
	}
	all, nothing := crdwire.Need{All: true}, crdwire.Need{}
	for _, tt := range []struct {
		name, text string
		target     crdwire.Target
		want       crdwire.Need
	}{
		{"two versions", crdJSON(here), service(t, "ns/webhookd"), all},
		{"any webhook", crdJSON(here), crdwire.Target{}, all},
		{"another Service", crdJSON(here), service(t, "ns/other"), nothing},
		{"no webhook", crdJSON(none), crdwire.Target{}, nothing},
		{"versions that managedFields may name", one(crdJSON(here)), crdwire.Target{}, crdwire.Need{Idle: []string{"v2", "v3"}}},
		{"one version", strings.Replace(one(crdJSON(here)), `,{"name":"v2"},{"name":"v3"}`, "", 1), crdwire.Target{}, nothing},
		{"objects in a version that is not served", strings.Replace(one(crdJSON(here)), `"storedVersions":["v1"]`, `"storedVersions":["v1","v3"]`, 1), crdwire.Target{}, all},
		{"stored in a version that is not served", strings.Replace(crdJSON(here), `{"name":"v1","served":true,`, `{"name":"v1",`, 1), crdwire.Target{}, all},
	} {
		crds, err := crdwire.Parse([]byte(tt.text))
		if err != nil || len(crds) != 1 {
			t.Fatal(err)
		}
		got := crdwire.NeedOf(crds[0], tt.target)
		if diff := cmp.Diff(tt.want, got); diff != "" || got.Any() != (got.All || got.Idle != nil) {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
