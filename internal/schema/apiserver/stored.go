package apiserver

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Embeds implements [crdschema.Strategy].
func (o *objects) Embeds() bool { return o.embeds }

// Stored implements [crdschema.Strategy].
func (o *objects) Stored(text []byte) (stored []byte, changed bool, err error) {
	var obj map[string]any
	if err := utiljson.Unmarshal(text, &obj); err != nil || obj == nil {
		return text, false, nil //nolint:nilerr // as documented
	}
	was := runtime.DeepCopyJSON(obj)
	o.coerce(obj)
	o.Default(obj)
	if reflect.DeepEqual(was, obj) {
		return text, false, nil
	}
	stored, err = json.Marshal(obj)
	return stored, true, err
}
