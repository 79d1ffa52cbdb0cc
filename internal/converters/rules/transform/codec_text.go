package transform

import (
	"encoding/base64"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// encodeJSON writes a value in its one form, so that it makes no difference in which order the API server hands it out.
// Numbers stay as they are spelt.
func encodeJSON(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	sorted, err := sortedJSON(nil, text, false)
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue(string(sorted)), nil
}

// decodeJSON reads a value, with its numbers as the API server will store them: what is lost then shows on the way back
// already.
func decodeJSON(text []byte, to *crdschema.Node) (jsondoc.Value, error) {
	v, err := jsondoc.RawValue([]byte(jsondoc.Unquote(text)))
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	return decoded(v.Text(), to)
}

func decoded(text []byte, to *crdschema.Node) (jsondoc.Value, error) {
	sorted, err := sortedJSON(nil, text, true)
	if err != nil || !Admits(to, sorted) {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.RawValue(sorted)
}

// encodeYAML writes a value as kubectl does.
func encodeYAML(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	sorted, err := sortedJSON(nil, text, false)
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	out, err := yaml.JSONToYAML(sorted)
	if err != nil || !utf8.Valid(out) {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue(string(out)), nil
}

// decodeYAML reads YAML as kubectl does; comments and layout are kept as the text that was there.
func decodeYAML(text []byte, to *crdschema.Node) (jsondoc.Value, error) {
	out, err := yaml.YAMLToJSONStrict([]byte(jsondoc.Unquote(text)))
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	v, err := jsondoc.RawValue(out)
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	return decoded(v.Text(), to)
}

func encodeBase64(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	return jsondoc.StringValue(base64.StdEncoding.EncodeToString([]byte(jsondoc.Unquote(text)))), nil
}

// decodeBase64 takes text, and line breaks in its encoding.
func decodeBase64(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	plain, err := base64.StdEncoding.DecodeString(jsondoc.Unquote(text))
	if err != nil || !utf8.Valid(plain) {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue(string(plain)), nil
}
