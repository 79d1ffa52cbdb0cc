package crdschema

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Embeds reports whether the schema has an embedded resource, whose metadata the API server prunes.
func (v *Version) Embeds() bool { return v.checker.embeds }

// Stored returns an object, as JSON text, as the API server stores it, and whether that differs:
// with defaults, and embedded resources without unknown metadata. Fields that the schema does not
// know stay. Text that is not an object is returned as it is. Its error is the encoder's.
func (v *Version) Stored(text []byte) (stored []byte, changed bool, err error) {
	var obj map[string]any
	if err := utiljson.Unmarshal(text, &obj); err != nil || obj == nil {
		return text, false, nil //nolint:nilerr // as documented
	}
	was := runtime.DeepCopyJSON(obj)
	v.coerce(obj)
	v.Default(obj)
	if reflect.DeepEqual(was, obj) {
		return text, false, nil
	}
	stored, err = json.Marshal(obj)
	return stored, true, err
}
