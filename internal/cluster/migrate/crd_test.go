package migrate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Helm wrote a CRD and webhookd set its storage version: what Helm wrote has to be changed.
func TestWritersOfACRD(t *testing.T) {
	t.Parallel()
	c := &crd{}
	for manager, fields := range map[string]string{
		"helm":            `{"f:spec":{"f:group":{},"f:names":{}}}`,
		"webhookd":        `{"f:spec":{"f:versions":{},"f:group":{}}}`,
		"webhookd-certs":  `{"f:spec":{"f:conversion":{}}}`,
		"apiserver":       `{"f:status":{}}`,
		"cannot be read":  `{"f:spec":`,
		"ca-injector":     `{"f:spec":{"f:conversion":{"f:webhook":{}}}}`,
		"webhookd-of-old": `{"f:spec":{"f:versions":{}}}`,
	} {
		c.Metadata.ManagedFields = append(c.Metadata.ManagedFields, metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(fields)})
	}
	if diff := cmp.Diff([]string{"helm"}, c.writers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
