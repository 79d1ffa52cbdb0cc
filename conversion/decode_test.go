package conversion

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// A zoo has a field of each kind that Go types of custom resources have, and some that they rarely
// have.
type zoo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   zooSpec     `json:"spec,omitempty"`
	Status *zooStatus  `json:"status,omitempty,omitzero"`
	List   []zooStatus `json:"list"`
}

type zooName string

func (n zooName) String() string { return string(n) }

type zooText struct{ text string }

func (t zooText) MarshalText() ([]byte, error)     { return []byte(t.text), nil }
func (t *zooText) UnmarshalText(text []byte) error { t.text = string(text); return nil }

type zooInline struct {
	Inline string `json:"inline,omitempty"`
	Hidden int    `json:"hidden,omitempty"`
}

type zooSpec struct {
	zooInline `json:",inline"`

	Hidden   string                 `json:"hidden,omitempty"`
	Text     string                 `json:"text"`
	Name     zooName                `json:"name,omitempty"`
	Flag     *bool                  `json:"flag,omitempty"`
	Int      int64                  `json:"int,omitempty"`
	Small    int8                   `json:"small,omitempty"`
	Unsigned *uint16                `json:"unsigned,omitempty"`
	Float    float32                `json:"float,omitempty"`
	Twice    **string               `json:"twice,omitempty"`
	Words    []string               `json:"words,omitempty"`
	Grid     [][]int32              `json:"grid"`
	Bytes    []byte                 `json:"bytes,omitempty"`
	Pair     [2]string              `json:"pair"`
	Map      map[string]string      `json:"map,omitempty"`
	Named    map[zooName]*zooStatus `json:"named,omitempty"`
	Boxes    map[string]zooStatus   `json:"boxes,omitempty"`
	Numbered map[int]string         `json:"numbered,omitempty"`
	Any      any                    `json:"any,omitempty"`
	Anything map[string]any         `json:"anything,omitempty"`
	Raw      *runtime.RawExtension  `json:"raw,omitempty"`
	Number   json.Number            `json:"number,omitempty"`
	Quoted   zooQuoted              `json:"quoted"`
	Owned    zooText                `json:"owned,omitzero"`
	Amount   resource.Quantity      `json:"amount,omitempty"`
	Port     *intstr.IntOrString    `json:"port,omitempty"`
	At       metav1.Time            `json:"at,omitempty,omitzero"`
	Wait     *metav1.Duration       `json:"wait,omitempty"`
	Template struct {
		metav1.ObjectMeta `json:"metadata"`
	} `json:"template,omitempty"`
	Untagged string
	Skipped  string `json:"-"`
}

type zooQuoted struct {
	Int int `json:"int,string,omitempty"`
}

type zooStatus struct {
	Title string      `json:"title"`
	Below []zooStatus `json:"below,omitempty"`
}

// zooTexts are values of which random objects are made.
var zooTexts = []string{ //nolint:gochecknoglobals // a table
	`null`, `true`, `false`, `0`, `-1`, `12`, `300`, `70000`, `1.5`, `1e2`, `9223372036854775808`, `""`, `"a"`, `"1"`, `"A\u00e9\n\"b"`,
	`"2026-01-02T03:04:05Z"`, `"1h0m0s"`, `"100m"`, `"YWJj"`, `[]`, `{}`, `["a","b"]`, `[1,2]`, `[[1,2],[],null]`, `[null,"a"]`,
	`{"a":"b","c":"d"}`, `{"a":"b","a":"c"}`, `{"a":null}`, `{"a":"b","c":null}`, `{"x":{"title":"t"},"y":{}}`, `{"int":"7"}`, `{"1":"x"}`, `{"title":"t"}`, `{"title":"t","below":[{"title":"u"},{}],"unknown":[1]}`,
	`{"x":{"title":"t"},"y":null}`, `[{"title":"t"},{"below":[]},null]`, `{"metadata":{"labels":{"a":"b"},"managedFields":[{"manager":"m"}]}}`,
	`{"metadata":{"creationTimestamp":null,"ownerReferences":[{"name":"o"}]}}`,
}

// zooObject makes the text of an object with random values, most of which fit.
func zooObject(r *rand.Rand) string {
	t := reflect.TypeFor[zooSpec]()
	members := func(n int, name func() string) string {
		all := make([]string, 0, n)
		for range n {
			all = append(all, fmt.Sprintf("%q: %s", name(), zooTexts[r.IntN(len(zooTexts))]))
		}
		return strings.Join(all, ", ")
	}
	spec := members(r.IntN(3), func() string {
		name, _, _ := strings.Cut(t.Field(r.IntN(t.NumField())).Tag.Get("json"), ",")
		if r.IntN(20) == 0 {
			name = strings.ToUpper(name)
		}
		return name
	})
	metadata := `"name": "n", "labels": {"a": "b"}, "managedFields": [{"manager": "m"}], "ownerReferences": [{"name": "o"}], "managedField": 1`
	text := fmt.Sprintf(`{"apiVersion": "g/v1", "kind": "Zoo", "metadata": {%s}, "spec": {%s}`, metadata, spec)
	if r.IntN(3) == 0 {
		text += "," + members(1, func() string { return []string{"status", "list", "other"}[r.IntN(3)] })
	}
	return text + "}"
}

// zooSchema knows some of the fields.
const zooSchema = `
status: &status {type: object, properties: {title: {type: string}}}
spec:
  type: object
  properties:
    text: {type: string}
    name: {type: string}
    flag: {type: boolean}
    map: {type: object, additionalProperties: {type: string}}
    named: {type: object, additionalProperties: *status}
    any: {x-kubernetes-preserve-unknown-fields: true}
    anything: {type: object}
    raw: {type: object}
    template: {type: object, properties: {metadata: {type: object}}}
`

// What a decoder accepts, it decodes as Kubernetes' own decoder does, and its tree is what
// encoding/json writes.
func TestDecoderDoesWhatKubernetesDoes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	of := goTypeOf("zoo", func() metav1.Object { return &zoo{} })
	schema := crdschematest.Version(t, zooSchema).Root
	covered, layout := of.coveredBy(schema), &keep.Layout{Schema: schema, Other: schema, Root: &keep.Place{}, Opaque: true}
	decoded, allKnown := 0, 0
	if spec := covered.fields["spec"]; spec.shape != plain {
		t.Fatal("the decoder leaves the spec to Kubernetes")
	}
	for range 8000 {
		text := zooObject(r)
		obj, err := jsondoc.ParseObject([]byte(text))
		if err != nil {
			t.Fatal(err, text)
		}
		got, want := &zoo{}, &zoo{}
		known, err := decodeObject([]byte(text), got, covered)
		if err != nil {
			continue
		}
		decoded++
		if err := decodeLast([]byte(text), want); err != nil {
			t.Fatalf("Kubernetes refuses it: %v: %s", err, text)
		}
		want.ManagedFields = nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\n%s", text, cmp.Diff(want, got, cmp.Exporter(func(reflect.Type) bool { return true })))
		}
		if known {
			allKnown++
			if new(keep.Searcher).HasUnknown(obj, layout, false) {
				t.Fatalf("a field is known, but not to the schema: %s", text)
			}
		}
		checkTree(t, got, of.json)
	}
	t.Logf("%d decoded, %d of them all known", decoded, allKnown)
	if decoded < 2000 || allKnown < 1000 {
		t.Error("too few for a test")
	}
}

func checkTree(t *testing.T, obj *zoo, of *jsonType) {
	t.Helper()
	c := &comparison{decodes: true}
	got, err := c.tree(typedValue{reflect.ValueOf(obj).Elem(), of})
	if err != nil {
		t.Fatal(err)
	}
	text, err := jsondoc.Encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	want, err := jsondoc.Decode(text, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("tree of %s:\n%s", text, diff)
	}
	again := &zoo{}
	if err := decode(text, again); c.decodes && (err != nil || !reflect.DeepEqual(again, obj)) {
		t.Fatalf("%v: does not decode to what it was: %s", err, text)
	}
}
