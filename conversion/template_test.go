package conversion_test

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/conversion"
)

// A templated object has other metadata below its own, as that of a pod template.
type templated struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Template struct {
			metav1.ObjectMeta `json:"metadata,omitempty"`

			Size int `json:"size,omitempty"`
		} `json:"template,omitempty"`
	} `json:"spec,omitempty"`
}

// What functions change in the metadata of a template is changed in the text.
func TestMetadataOfTemplatesIsConverted(t *testing.T) {
	t.Parallel()
	set := func(_ context.Context, src, dst *templated) error {
		dst.Spec = src.Spec
		dst.Spec.Template.Labels = map[string]string{"to": "v2"}
		dst.Spec.Template.Size++
		return nil
	}
	typed := conversion.HubSpoke("v2", conversion.NewSpoke("v1", set, set))
	obj, err := conversion.ParseObject([]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},` +
		`"spec":{"template":{"metadata":{"labels":{"to":"v1"}},"size":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := typed.Convert(t.Context(), obj, "v1", "v2"); err != nil {
		t.Fatal(err)
	}
	const want = `"spec":{"template":{"metadata":{"labels":{"to":"v2"}},"size":2}}`
	if got := string(obj.JSON()); !strings.Contains(got, want) {
		t.Errorf("%s lacks %s", got, want)
	}
}
