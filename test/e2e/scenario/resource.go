package scenario

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// A Resource is the resource of a CRD at any of its versions, in one namespace.
type Resource struct {
	// Name is that of the CRD.
	Name string
	// Group, Plural and Kind are as in the CRD.
	Group, Plural, Kind string
	// Namespace is where objects are; it is there.
	Namespace string
	// Served are the versions that were served when the CRD was installed, and Storage the one that
	// was stored.
	Served  []string
	Storage string

	env    *Env
	client dynamic.Interface
	raw    rest.Interface
}

func (e *Env) resource(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *Resource {
	t.Helper()
	config := e.Cluster.Config()
	config.APIPath = "/apis"
	config.GroupVersion = &schema.GroupVersion{Group: crd.Spec.Group, Version: "any"} // paths are absolute
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	raw, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatalf("client of %s: %v", crd.Name, err)
	}
	return &Resource{
		Name: crd.Name, Group: crd.Spec.Group, Plural: crd.Spec.Names.Plural, Kind: crd.Spec.Names.Kind,
		Namespace: metav1.NamespaceDefault, Served: servedVersions(crd), Storage: storageVersion(crd),
		env: e, client: e.Dynamic(t), raw: raw,
	}
}

// At returns a client at a version, in the resource's namespace.
func (r *Resource) At(version string) dynamic.ResourceInterface {
	return r.client.Resource(r.GVR(version)).Namespace(r.Namespace)
}

// GVR names the resource at a version.
func (r *Resource) GVR(version string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: version, Resource: r.Plural}
}

// Converted returns how many objects of the resource w has converted.
func (r *Resource) Converted(t *testing.T, w Scraped) float64 {
	t.Helper()
	return Converted(t, w, r.Kind+"."+r.Group)
}

// Object returns an object of the resource at a version, whose fields are written as YAML.
func (r *Resource) Object(t *testing.T, version, name, fields string) *unstructured.Unstructured {
	t.Helper()
	text, err := yaml.YAMLToJSONStrict([]byte(fields))
	if err != nil {
		t.Fatalf("fields of %s: %v", name, err)
	}
	u := &unstructured.Unstructured{Object: map[string]any{}}
	// Decoded as the API server decodes it: integers are int64.
	if string(text) != "null" {
		text = append([]byte(`{"apiVersion":"any/v1","kind":"Any"`), moreMembers(text)...)
		if err := u.UnmarshalJSON(text); err != nil {
			t.Fatalf("fields of %s: %v", name, err)
		}
	}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: r.Group, Version: version, Kind: r.Kind})
	u.SetName(name)
	u.SetNamespace(r.Namespace)
	return u
}

// moreMembers returns the members of an object with a comma before them and its closing brace.
func moreMembers(object []byte) []byte {
	if string(object) == "{}" {
		return []byte("}")
	}
	return append([]byte(","), object[1:]...)
}

// Create creates an object: see Object.
func (r *Resource) Create(t *testing.T, version, name, fields string) {
	t.Helper()
	if _, err := r.At(version).Create(t.Context(), r.Object(t, version, name, fields), metav1.CreateOptions{}); err != nil {
		t.Fatalf("create %s at %s: %v", name, version, err)
	}
}

// Get reads an object at a version.
func (r *Resource) Get(t *testing.T, version, name string) *unstructured.Unstructured {
	t.Helper()
	obj, err := r.At(version).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read %s at %s: %v", name, version, err)
	}
	return obj
}

// Stored returns the object that etcd holds, or nil.
func (r *Resource) Stored(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	text := r.env.Cluster.Stored(t, r.Group, r.Plural, r.Namespace, name)
	if text == nil {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatalf("what etcd holds of %s: %v", name, err)
	}
	return u
}

// Path returns the path of the resource's objects at a version, or that of one of them.
func (r *Resource) Path(version string) string {
	return "/apis/" + r.Group + "/" + version + "/namespaces/" + r.Namespace + "/" + r.Plural
}

// Table asks for objects as a table, as `kubectl get` does. More is what comes behind the path of
// the objects: empty, /NAME or a query.
func (r *Resource) Table(t *testing.T, version, more string) (*metav1.Table, error) {
	t.Helper()
	text, err := r.raw.Get().RequestURI(r.Path(version)+more).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	if err != nil {
		return nil, err
	}
	table := &metav1.Table{}
	return table, json.Unmarshal(text, table)
}
