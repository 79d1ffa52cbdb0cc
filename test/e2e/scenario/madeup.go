package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// madeUpGroup is that of the kinds that scenarios make up.
const madeUpGroup = "madeup.example.com"

// madeUpVersions returns the versions of a made-up kind, oldest first. The one in the middle is the
// hub and the one that is stored.
func madeUpVersions() []string { return []string{"v1alpha1", "v1beta1", "v1"} }

// madeUp returns a kind that convert converts.
func madeUp(kind string, convert converters.Func) converters.Kind {
	return converters.Kind{
		GroupKind: schema.GroupKind{Group: madeUpGroup, Kind: kind},
		Hub:       "v1beta1", Versions: madeUpVersions(), Converter: convert,
	}
}

// madeUpCRD returns the CRD of a made-up kind. Each version has its properties of spec, as YAML.
func madeUpCRD(t *testing.T, kind, v1alpha1, v1beta1, v1 string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	singular := strings.ToLower(kind)
	var text strings.Builder
	fmt.Fprintf(&text, `{metadata: {name: %[1]ss.%[2]s}, spec: {group: %[2]s, scope: Namespaced, `+
		`names: {plural: %[1]ss, singular: %[1]s, kind: %[3]s, listKind: %[3]sList}, versions: [`,
		singular, madeUpGroup, kind)
	for i, properties := range []string{v1alpha1, v1beta1, v1} {
		fmt.Fprintf(&text, `{name: %s, served: true, storage: %t, subresources: {status: {}}, schema: {openAPIV3Schema: `+
			`{type: object, properties: {spec: {type: object, properties: %s}, `+
			`status: {type: object, properties: {ready: {type: boolean}}}}}}},`, madeUpVersions()[i], i == 1, properties)
	}
	text.WriteString("]}}")
	return ParseCRD(t, text.String())
}
