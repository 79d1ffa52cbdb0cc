package controlplane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// machines are a kind of which each version has fields that no other one has, in its spec and in its status. Its converter
// trusts every annotation with the key of a kept value: what it can be made to say is what the worst converter could.
const machines = "machines.guard.example.com"

func machineKind() converters.Kind {
	return converters.Kind{
		GroupKind: schema.GroupKind{Group: "guard.example.com", Kind: "Machine"},
		Hub:       "v1", Versions: []string{"v1alpha1", "v1beta1", "v1"}, Converter: converters.Func(keep),
	}
}

// machinesCRD is the CRD with some of these versions.
func machinesCRD(t *testing.T, storage string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var text strings.Builder
	text.WriteString(`{metadata: {name: ` + machines + `}, spec: {group: guard.example.com, scope: Namespaced,
		names: {plural: machines, singular: machine, kind: Machine, listKind: MachineList}, versions: [`)
	for _, version := range versions {
		fmt.Fprintf(&text, `{name: %s, served: true, storage: %t,
			subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}},
			schema: {openAPIV3Schema: {type: object, properties: {
				spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}, %s: {type: string}}},
				status: {type: object, properties: {ready: {type: string}, replicas: {type: integer}, %s: {type: string}}}}}}},`,
			version, version == storage, ownField(version), ownField(version))
	}
	text.WriteString("]}}")
	return scenario.ParseCRD(t, text.String())
}

// ownField is the field of spec, and of status, that one version alone has.
func ownField(version string) string { return version + "Only" }

// keptKey is the key of the annotation that keeps what a version has at a path.
func keptKey(version string, path ...string) string {
	return keptPrefix(version, path[0] == "status") + strings.Join(path, ".")
}

func keptPrefix(version string, status bool) string {
	if status {
		return "status.conversion.webhookd.io/" + version + "."
	}
	return "conversion.webhookd.io/" + version + "."
}

// keptValue is what such an annotation has of a text.
func keptValue(text string) string { return fmt.Sprintf(`{"value":%q}`, text) }

// maxKept is how much the annotations of an object may have.
const maxKept = 256 << 10

// keep converts an object, as webhookd does with a rule for nothing: each field that the other version does not have travels
// in an annotation.
func keep(_ context.Context, obj *jsondoc.Object, from, to string) error {
	restored, err := takeKept(obj, from, to)
	if err != nil {
		return err
	}
	size := 0
	for _, of := range []string{"spec", "status"} {
		own := []string{of, ownField(from)}
		value, err := obj.Get(own...)
		if err != nil {
			return err
		}
		if value == nil {
			continue
		}
		text := `{"value":` + string(value.Text()) + `}`
		if size += len(text); size > maxKept {
			return &jsondoc.PathError{
				Problem: fmt.Sprintf("what only %s can say has %d bytes and annotations keep %d, make these fields smaller", from, size, maxKept),
				Path:    jsondoc.FormatPath(own...),
			}
		}
		if err := obj.Remove(own...); err != nil {
			return err
		}
		if err := obj.Set(jsondoc.StringValue(text), "metadata", "annotations", keptKey(from, own...)); err != nil {
			return err
		}
	}
	for _, value := range restored {
		if err := obj.Set(value.value, value.path...); err != nil {
			return err
		}
	}
	return nil
}

type keptAt struct {
	path  []string
	value jsondoc.Value
}

// takeKept removes what was kept of both versions, and returns what was kept of the second one.
func takeKept(obj *jsondoc.Object, from, to string) ([]keptAt, error) {
	annotations, err := obj.Get("metadata", "annotations")
	if err != nil {
		return nil, err
	}
	var restored []keptAt
	left := 0
	err = annotations.Filter(func(key []byte, m jsondoc.Member) bool {
		for _, status := range []bool{false, true} {
			if strings.HasPrefix(string(key), keptPrefix(from, status)) {
				return false
			}
			path, is := strings.CutPrefix(string(key), keptPrefix(to, status))
			if !is {
				continue
			}
			text, _ := m.Node().Str()
			var kept struct {
				Value json.RawMessage `json:"value"`
			}
			if json.Unmarshal([]byte(text), &kept) != nil || strings.HasPrefix(path, "status.") != status {
				return false
			}
			if value, err := jsondoc.RawValue(kept.Value); err == nil {
				restored = append(restored, keptAt{strings.Split(path, "."), value})
			}
			return false
		}
		left++
		return true
	})
	if err == nil && annotations != nil && left == 0 {
		err = obj.Remove("metadata", "annotations")
	}
	return restored, err
}
