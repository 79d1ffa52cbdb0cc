package conversion

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// An Object is a custom resource as text: the root [Node] of its JSON. What is not changed keeps
// its text, byte for byte. It is not safe for concurrent use.
type Object struct{ Node }

// ParseObject parses the JSON of an object, which the caller must not change afterwards. It fails
// if the text is not one JSON object, or for a name that occurs twice in it or in its metadata.
func ParseObject(text []byte) (*Object, error) {
	obj, err := jsondoc.ParseObject(text)
	if err != nil {
		return nil, err
	}
	return newObject(obj), nil
}

func newObject(obj *jsondoc.Object) *Object { return &Object{Node{obj.Node}} }

func (o *Object) document() *jsondoc.Object { return &jsondoc.Object{Node: o.node} }

// Unstructured returns a copy of the object as Kubernetes' libraries have it, with integers as
// int64. Changes of the copy do not change the object. It fails for a number that is too big for a
// float64.
func (o *Object) Unstructured() (*unstructured.Unstructured, error) {
	if !o.Exists() {
		return nil, o.Errorf("is absent, parse an object with ParseObject")
	}
	u := &unstructured.Unstructured{}
	if err := decode(o.node.Text(), &u.Object); err != nil {
		return nil, o.Errorf("has a number too big for a float64, make it smaller or a string")
	}
	return u, nil
}

// setVersion sets the object's version, and leaves its group.
func setVersion(doc *jsondoc.Object, version string) error {
	was, err := doc.Get("apiVersion")
	if err != nil {
		return err
	}
	if text, ok := was.Str(); ok {
		was.Replace(jsondoc.StringValue(groupOf(text) + "/" + version))
	}
	return nil
}
