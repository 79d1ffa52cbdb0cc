package crdwire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// Parse returns the CRDs of a YAML or JSON text, and those that Crossplane makes of the XRDs in it.
// It looks into lists and skips other kinds.
func Parse(text []byte) ([]*CRD, error) {
	_, objects, err := parse(text)
	if err != nil {
		return nil, err
	}
	crds := make([]*CRD, 0, len(objects))
	for _, o := range objects {
		found, err := o.crds()
		if err == nil {
			err = o.checkVersion()
		}
		if err != nil {
			return nil, o.named(err)
		}
		crds = append(crds, found...)
	}
	return crds, nil
}

// A crdObject is a CRD or an XRD of any version in a text, as encoding/json decodes it.
type crdObject struct {
	document int // that it is in
	line     int
	members  map[string]any
}

func (o *crdObject) isXRD() bool {
	apiVersion, _ := o.members["apiVersion"].(string)
	kind, _ := o.members["kind"].(string)
	return xrd.Is(apiVersion, kind)
}

func (o *crdObject) name() string {
	name, _, _ := unstructured.NestedString(o.members, "metadata", "name")
	return name
}

// named returns an error that begins with the name, if there is one.
func (o *crdObject) named(err error) error {
	if name := o.name(); name != "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// claimCRD returns the name of the CRD that Crossplane makes of an XRD for claims, or "".
func (o *crdObject) claimCRD() string {
	var d xrd.Definition
	if !o.isXRD() || decode(xrd.WithBundle(o.members), &d) != nil {
		return ""
	}
	return d.ClaimCRD()
}

// crds returns the CRD, or those that Crossplane makes.
func (o *crdObject) crds() ([]*CRD, error) {
	if !o.isXRD() {
		crd := &CRD{}
		if err := decode(xrd.WithBundle(o.members), crd); err != nil {
			return nil, fmt.Errorf("%s that cannot be read: %w", crdKind, err)
		}
		return []*CRD{crd}, nil
	}
	var d xrd.Definition
	if err := decode(xrd.WithBundle(o.members), &d); err != nil {
		return nil, fmt.Errorf("%s that cannot be read: %w", xrd.Kind, err)
	}
	crds, problems := d.CRDs()
	return crds, problems.ToAggregate()
}

func (o *crdObject) checkVersion() error {
	version, _ := o.members["apiVersion"].(string)
	if o.isXRD() {
		if !xrd.Known(version) {
			return fmt.Errorf("write it as %s/v1 or v2, %s is not known", xrd.Group, version)
		}
		return nil
	}
	if known := apiextensionsv1.SchemeGroupVersion.String(); version != known {
		return fmt.Errorf("write it as %s first, no API server serves %s any more", known, version)
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
		crds = appendCRDs(crds, crdObject{document: len(documents)}, document.Root, value)
		documents = append(documents, value)
	}
	return documents, crds, nil
}

// maxDepth bounds the nesting of a text, as the API server's decoder does.
const maxDepth = 10000

// appendCRDs adds the value of a node, or the items of a list. of is the document.
func appendCRDs(crds []crdObject, of crdObject, n *yaml.Node, value any) []crdObject {
	of.members, _ = value.(map[string]any)
	apiVersion, _ := of.members["apiVersion"].(string)
	kind, _ := of.members["kind"].(string)
	switch {
	case kind == "List" && apiVersion == "v1", kind == crdKind+"List", kind == xrd.Kind+"List":
		items, _ := of.members["items"].([]any)
		if nodes := itemsOf(n); len(nodes) == len(items) {
			for i, item := range items {
				crds = appendCRDs(crds, of, nodes[i], item)
			}
		}
	case kind == crdKind && strings.HasPrefix(apiVersion, apiextensionsv1.GroupName+"/"), xrd.Is(apiVersion, kind):
		of.line = n.Line
		crds = append(crds, of)
	}
	return crds
}

// itemsOf returns the items of a list.
func itemsOf(list *yaml.Node) []*yaml.Node {
	for i := 0; i+1 < len(list.Content); i += 2 {
		if list.Content[i].Value == "items" {
			return list.Content[i+1].Content
		}
	}
	return nil
}

// decodeJSON returns a JSON text as encoding/json decodes it, with numbers as they are spelt.
func decodeJSON(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&value) // the text was made by this program
	return value
}

// tree returns a struct as decodeJSON does.
func tree(v any) any {
	text, _ := json.Marshal(v) // a type of the API can always be encoded
	return decodeJSON(text)
}

// decode reads a value of decodeJSON into a struct.
func decode(value, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// owner returns the name of the XRD of which Crossplane makes a CRD; false if it does not.
func (o *crdObject) owner() (string, bool) {
	owner, is := xrd.Owner(&unstructured.Unstructured{Object: o.members})
	return owner.Name, is
}
