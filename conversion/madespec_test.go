package conversion_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
)

// A Go type makes a spec of nothing, as the CronJob of kubebuilder's tutorial does: the hub has a
// schedule of stars then. The API server fills in the defaults of that spec when it stores it.
func TestSpecThatIsMadeGetsDefaults(t *testing.T) {
	t.Parallel()
	crd := bytes.ReplaceAll(crdOf(`
		minute: {type: string}
		hour: {type: string}
		policy: {type: string, default: Allow}`, `
		schedule: {type: string}
		policy: {type: string, default: Allow}`),
		[]byte("openAPIV3Schema:\n"), []byte("openAPIV3Schema:\n        required: [spec]\n"))
	kind, err := conversion.Lossless(conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
		spec, _ := u.Object["spec"].(map[string]any)
		made := map[string]any{}
		if policy, found := spec["policy"]; found {
			made["policy"] = policy
		}
		if from == "v1" {
			part := func(name string) string {
				if text, is := spec[name].(string); is {
					return text
				}
				return "*"
			}
			made["schedule"] = part("minute") + " " + part("hour")
		} else if schedule, is := spec["schedule"].(string); is {
			if minute, hour, found := strings.Cut(schedule, " "); found && !strings.Contains(hour, " ") {
				for name, text := range map[string]string{"minute": minute, "hour": hour} {
					if text != "*" {
						made[name] = text
					}
				}
			}
		}
		u.Object["spec"] = made
		return nil
	}), crd)
	if err != nil {
		t.Fatal(err)
	}
	conversiontest.Laws(t, kind, crd, &conversiontest.Options{Samples: [][]byte{
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"}}`),
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":{"minute":"5","hour":null}}`),
		[]byte(`{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a"},"spec":{"schedule":"@daily"}}`),
	}})
}

// A null that the converter sets is removed where the schema does not allow it, unless the source
// has a null there.
func TestNullThatIsMadeIsPruned(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf("c: {type: integer}", "c: {type: integer}"), func(spec map[string]any, from string) error {
		if from == "v1" && spec != nil {
			spec["c"] = nil
		}
		return nil
	})
	for in, want := range map[string]string{
		`{"spec":{"c":1}}`:    `{"spec":{}}`,
		`{"spec":{}}`:         `{"spec":{}}`,
		`{"spec":{"c":null}}`: `{"spec":{"c":null}}`,
	} {
		if seen, _ := withoutKept(t, convert(t, kind, in, "v1", "v2")); !sameObject(t, seen, want) {
			t.Errorf("%s became %s, want %s", in, seen, want)
		}
	}
}
