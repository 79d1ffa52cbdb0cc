package crdschema

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Embeds reports whether there is an embedded resource somewhere, which the API server tidies.
func (v *Version) Embeds() bool { return v.checker.embeds }

// Stored returns an object, as JSON, as the API server has it once it has stored or was sent it: with defaults, and with tidy
// embedded objects; and whether that is another object. Fields that the schema does not know stay. Text that is no object is
// not changed. Its error is that of the encoder.
func (v *Version) Stored(text []byte) (stored []byte, changed bool, err error) {
	var obj map[string]any
	if err := utiljson.Unmarshal(text, &obj); err != nil || obj == nil {
		return text, false, nil //nolint:nilerr // as said
	}
	was := runtime.DeepCopyJSON(obj)
	v.Coerce(obj)
	v.Default(obj)
	if reflect.DeepEqual(was, obj) {
		return text, false, nil
	}
	stored, err = json.Marshal(obj)
	return stored, true, err
}
