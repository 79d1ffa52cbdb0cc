package transform

import (
	"encoding/base64"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// encodeJSON writes a value in canonical order, so that the order in which the API server sends it
// makes no difference. Numbers keep their spelling.
func encodeJSON(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, false)
	return jsondoc.StringValue(string(sorted)), ok
}

func decodeJSON(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	return decoded([]byte(jsondoc.Unquote(text)), to)
}

// decoded returns a value with its numbers as the API server will store them, so that the way back
// already shows what is lost.
func decoded(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	v, err := jsondoc.RawValue(text)
	if err != nil {
		return jsondoc.Value{}, false
	}
	sorted, ok := sortedJSON(make([]byte, 0, len(v.Text())), v.Text(), true)
	return rawValue(sorted), ok && Admits(to, sorted)
}

// encodeYAML writes a value as kubectl does.
func encodeYAML(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, false)
	if !ok {
		return jsondoc.Value{}, false
	}
	out, err := yaml.JSONToYAML(sorted)
	return jsondoc.StringValue(string(out)), err == nil && utf8.Valid(out)
}

// decodeYAML reads YAML as kubectl does. It loses comments and layout.
func decodeYAML(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	out, err := yaml.YAMLToJSONStrict([]byte(jsondoc.Unquote(text)))
	if err != nil {
		return jsondoc.Value{}, false
	}
	return decoded(out, to)
}

// encodeBase64 encodes no empty text where the API server demands format byte, which an empty text
// does not have (k8s.io/kube-openapi/pkg/validation/strfmt, IsBase64).
func encodeBase64(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	plain := jsondoc.Unquote(text)
	return jsondoc.StringValue(base64.StdEncoding.EncodeToString([]byte(plain))), plain != "" || to.Format() != "byte"
}

// decodeBase64 takes only encoded text, which may have line breaks.
func decodeBase64(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	plain, err := base64.StdEncoding.DecodeString(jsondoc.Unquote(text))
	return jsondoc.StringValue(string(plain)), err == nil && utf8.Valid(plain)
}
