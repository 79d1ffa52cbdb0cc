package conversion

import (
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// decode reads JSON as the API server does: names are case-sensitive, numbers are int64 where they
// fit.
func decode(text []byte, into any) error { return utiljson.Unmarshal(text, into) }

// decodeLast is decode for text where the last of the values counts that have one name.
func decodeLast(text []byte, into any) error { return decode(jsondoc.LastOfEach(text), into) }

// render encodes v, which a converter set at path.
func render(v any, path string) (jsondoc.Value, error) {
	text, err := jsondoc.Encode(v)
	if err != nil {
		return jsondoc.Value{}, unrepresentable(path)
	}
	return jsondoc.RawValue(text)
}

func unrepresentable(path string) error {
	return &jsondoc.PathError{Problem: "converter set a value that JSON cannot represent, fix the converter", Path: path}
}

// groupOf returns the group of an apiVersion.
func groupOf(apiVersion string) string {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group
}
