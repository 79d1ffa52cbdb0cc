package crdwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/internal/yamljson"
)

// Parse returns the CRDs of a YAML or JSON text. It looks into lists and skips other kinds.
func Parse(text []byte) ([]*CRD, error) {
	_, objects, err := parse(text)
	if err != nil {
		return nil, err
	}
	crds := make([]*CRD, len(objects))
	for i, o := range objects {
		crds[i] = &CRD{}
		if err := decode(o.members, crds[i]); err != nil {
			return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
		}
		if err := o.checkVersion(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, crds[i].Name)
		}
	}
	return crds, nil
}

// A crdObject is a CRD of any version in a text: its node, and the same as encoding/json decodes
// it.
type crdObject struct {
	node    *yaml.Node
	members map[string]any
}

func (o *crdObject) checkVersion() error {
	if version := apiextensionsv1.SchemeGroupVersion.String(); o.members["apiVersion"] != version {
		return fmt.Errorf("write it as %s first, no API server serves %s any more", version, o.members["apiVersion"])
	}
	return nil
}

// parse returns the documents of a text and the CRDs in them, whose members are those of the
// documents. Numbers keep their spelling.
func parse(text []byte) (documents []any, crds []crdObject, err error) {
	for document, err := range yamljson.Documents(text) {
		if err != nil {
			return nil, nil, err
		}
		text, err := document.JSON(document.Root, maxDepth)
		if err != nil {
			return nil, nil, err
		}
		value := decodeJSON(text)
		documents = append(documents, value)
		crds = appendCRDs(crds, document.Root, value)
	}
	return documents, crds, nil
}

// maxDepth bounds the nesting of a text, as the API server's decoder does.
const maxDepth = 10000

func appendCRDs(crds []crdObject, n *yaml.Node, value any) []crdObject {
	members, _ := value.(map[string]any)
	apiVersion, _ := members["apiVersion"].(string)
	kind, _ := members["kind"].(string)
	switch {
	case kind == "List" && apiVersion == "v1", kind == crdKind+"List":
		items, _ := members["items"].([]any)
		if _, nodes := find(n, "items"); nodes != nil && len(nodes.Content) == len(items) {
			for i, item := range items {
				crds = appendCRDs(crds, nodes.Content[i], item)
			}
		}
	case kind == crdKind && strings.HasPrefix(apiVersion, apiextensionsv1.GroupName+"/"):
		crds = append(crds, crdObject{n, members})
	}
	return crds
}

// decodeJSON returns a JSON text as encoding/json decodes it, with numbers as they are spelt.
func decodeJSON(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // the text was made by this program
	return value
}

// decode reads a value of decodeJSON into a struct.
func decode(value, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
