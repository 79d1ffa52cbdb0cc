package crdwire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/kubeapi"
)

// The field managers of webhookd. There are two since server-side apply removes what a manager does not send again:
// ManagerWire owns spec.conversion, ManagerCerts caBundle alone.
const (
	ManagerWire  = "webhookd"
	ManagerCerts = "webhookd-certs"
)

func isOurs(manager string) bool { return manager == ManagerWire || manager == ManagerCerts }

// An owner is a field manager of a field.
type owner struct {
	manager string
	applies bool // it has said so by server-side apply, and not just written the object
	since   time.Time
}

// ownersOf returns who owns a field: ownersOf(crd, "spec", "conversion", "strategy").
func ownersOf(crd *CRD, path ...string) []owner {
	var owners []owner
	for _, entry := range crd.ManagedFields {
		if entry.FieldsV1 == nil {
			continue
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil || !hasField(fields, path) {
			continue
		}
		o := owner{manager: entry.Manager, applies: entry.Operation == metav1.ManagedFieldsOperationApply}
		if entry.Time != nil {
			o.since = entry.Time.Time
		}
		owners = append(owners, o)
	}
	return owners
}

func hasField(fields map[string]json.RawMessage, path []string) bool {
	for _, name := range path {
		text, ok := fields["f:"+name]
		if !ok {
			return false
		}
		fields = nil
		_ = json.Unmarshal(text, &fields) // {} has no fields
	}
	return true
}

// managerOf takes the name out of what the API server says: conflict with "kubectl" using v1.
func managerOf(conflict kubeapi.FieldConflict) string {
	_, rest, _ := strings.Cut(conflict.Message, `"`)
	name, _, _ := strings.Cut(rest, `"`)
	return name
}

// mayTake reports whether a field may be taken from who owns it without being told to. That is so for fields of webhookd's
// own, and for strategy None of who did not say so: the API server fills it in, and gives it to whoever wrote the object.
func mayTake(crd *CRD, conflict kubeapi.FieldConflict) bool {
	manager := managerOf(conflict)
	if isOurs(manager) {
		return true
	}
	if conflict.Field != ".spec.conversion.strategy" || crd.Spec.Conversion == nil ||
		crd.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter {
		return false
	}
	return !slices.ContainsFunc(ownersOf(crd, "spec", "conversion", "strategy"), func(o owner) bool { return o.manager == manager && o.applies })
}

// A ConflictError says which fields are somebody else's.
type ConflictError struct {
	Name      string // of the CRD
	Conflicts []kubeapi.FieldConflict
	Remedy    string
}

// Error implements error: a line for each field.
func (e *ConflictError) Error() string {
	lines := make([]string, 0, len(e.Conflicts)+1)
	for _, c := range e.Conflicts {
		lines = append(lines, fmt.Sprintf("%s: field manager %q owns %s, with another value", e.Name, managerOf(c), strings.TrimPrefix(c.Field, ".")))
	}
	return strings.Join(append(lines, e.Remedy), "\n")
}
