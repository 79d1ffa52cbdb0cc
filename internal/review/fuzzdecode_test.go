package review_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// FuzzDecode compares webhookd with the API server's decoder, sigs.k8s.io/json in its strict mode:
// which bodies get a review, which objects convert, the tree that a converter sees, and the tree in
// the answer. The strict mode refuses all repeated names; webhookd refuses them in the envelope, in
// an object and in its metadata, and keeps those further down.
func FuzzDecode(f *testing.F) {
	for _, body := range goldenRequests(f) {
		f.Add(body)
	}
	for _, object := range decodeSeeds() {
		f.Add(request(object))
	}
	for _, body := range []string{`{"a":1,"a":2}`, `{"kind":"ConversionReview","k\u0069nd":"ConversionReview"}`, `null`, `[{}]`, ` {} `, "{}\n{}"} {
		f.Add([]byte(body))
	}
	for _, name := range []string{"kind", "apiVersion", "request", "uid", "desiredAPIVersion", "objects", "metadata"} {
		for _, other := range []string{strings.ToUpper(name), strings.ToLower(name), `\u00` + fmt.Sprintf("%x", name[0]) + name[1:]} {
			f.Add(bytes.ReplaceAll(request(named("a")), []byte(`"`+name+`"`), []byte(`"`+other+`"`)))
		}
	}
	var seen witness
	r := newReviewer(f, seen.convert, review.Hooks{})
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<12 || hasLongText(body) {
			return
		}
		want := expect(t, body)
		seen.objects = nil
		answer, err := r.Review(t.Context(), nil, body)
		var refusal *review.RequestError
		if errors.As(err, &refusal) != want.rejected {
			t.Fatalf("got %v, want it rejected: %v", err, want.rejected)
		}
		if err == nil {
			want.compare(t, seen.objects, answer)
		}
	})
}

// hasLongText reports whether a body has a string that might be refused for its length.
func hasLongText(body []byte) bool {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		if token.Kind() == '"' && len(token.String()) > 1<<10 {
			return true
		}
	}
}

func decodeSeeds() []string {
	return []string{
		named("a"), `{"apiVersion":"example.com/v1","kind":"Gadget","a":1,"a":2}`, widget(`"kind":1`), widget(`"metadata":{"a":1,"\u0061":2}`),
		widget(`"spec":{"a":{"b":1,"b":2}}`), widget(`"spec":[1e400,-0,1.10,9223372036854775808,"\ud83d\ude00\u0000"]`), widget(`"metadata":null`),
		widget(`"metadata":[]`), `null`, `[]`, widget(`"s":"\ud800"`), widget("\"s\":\"\xff\""), `{"apiVersion":"other.com/v1beta1","kind":"Widget"}`,
		`{"apiVersion":"example.com/v1beta1","kind":"Gadget"}`, `{"apiVersion":"v1beta1","kind":"Widget"}`, `{"apiVersion":"a/b/c","kind":"Widget"}`,
		`{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{"name":"a"}},` + named("b"), `{"Kind":"Widget","apiversion":"example.com/v1beta1"}`,
	}
}

// A witness is a converter that only records the objects.
type witness struct{ objects []sight }

// A sight is an object as a converter sees it.
type sight struct {
	tree any
	err  error
}

func (w *witness) convert(_ context.Context, obj *jsondoc.Object, from, _ string) error {
	if apiVersion, _ := obj.Get("apiVersion"); strings.HasSuffix(textOf(apiVersion), "/"+from) {
		tree, err := treeOf(obj.Node)
		w.objects = append(w.objects, sight{tree, err})
	}
	return nil
}

func textOf(n *jsondoc.Node) string {
	text, _ := n.Str()
	return text
}

// treeOf decodes a node through the methods for converters.
func treeOf(n *jsondoc.Node) (any, error) {
	switch n.Kind() {
	case jsondoc.Map, jsondoc.Array:
		object, list := map[string]any{}, []any{}
		var inside error
		err := n.Each(func(name string, value *jsondoc.Node) bool {
			v, err := treeOf(value)
			inside = errors.Join(inside, err)
			object[name], list = v, append(list, v)
			return true
		})
		if n.Kind() == jsondoc.Array {
			return list, errors.Join(err, inside)
		}
		return object, errors.Join(err, inside)
	case jsondoc.String:
		return textOf(n), nil
	default:
		var v any
		err := kjson.UnmarshalCaseSensitivePreserveInts(n.Text(), &v)
		return v, err
	}
}

// An expectation is the strict decoder's reading of a body.
type expectation struct {
	rejected, failed bool
	desired          string
	objects          []expected
}

// An expected is one object of a review that is answered.
type expected struct {
	text    []byte
	fails   bool
	visited bool  // by the converter
	tree    any   // nil if a number does not fit into the decoder
	err     error // why the tree is incomplete
}

// expect decodes a body. It fails the test if the decoder and jsontext disagree on what is JSON.
func expect(t *testing.T, body []byte) expectation {
	t.Helper()
	rejected := expectation{rejected: true}
	top, ok := strictMembers(body)
	if !ok || !readable(t, body) {
		return rejected
	}
	req, ok := strictMembers(top["request"])
	if !ok || stringOf(top["kind"]) != "ConversionReview" || stringOf(req["uid"]) == "" {
		return rejected
	}
	if v := stringOf(top["apiVersion"]); v != reviewV1 && v != reviewV1beta1 {
		return rejected
	}
	e := expectation{desired: stringOf(req["desiredAPIVersion"])}
	to, err := schema.ParseGroupVersion(e.desired)
	e.failed = err != nil || to.Group == "" || to.Version == ""
	var objects []json.RawMessage
	if text := req["objects"]; len(text) > 0 && kjson.UnmarshalCaseSensitivePreserveInts(text, &objects) != nil {
		e.failed = true
	}
	for _, object := range objects {
		e.add(object, to)
	}
	return e
}

// readable reports whether a body is valid UTF-8 JSON that is not nested too deep. The decoder
// replaces invalid UTF-8 and half surrogate pairs with U+FFFD; webhookd refuses both, because it
// could not return the text unchanged.
func readable(t *testing.T, body []byte) bool {
	t.Helper()
	err := kjson.UnmarshalCaseSensitivePreserveInts(body, &struct{}{})
	syntax, _ := kjson.SyntaxErrorOffset(err)
	strict := jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true))
	if strict && syntax {
		t.Fatalf("the oracles disagree: %v", err)
	}
	return strict && depthOf(body) <= jsondoc.MaxDepth+3
}

func depthOf(text []byte) (depth int) {
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true))
	for {
		if _, err := d.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				return depth
			}
			return depth + 1<<20
		}
		depth = max(depth, d.StackDepth())
	}
}

// strictMembers returns the members of an object, if text is one and repeats no name.
func strictMembers(text []byte) (map[string]json.RawMessage, bool) {
	if text = bytes.TrimLeft(text, " \t\r\n"); len(text) == 0 || text[0] != '{' {
		return nil, false
	}
	var members map[string]json.RawMessage
	strict, err := kjson.UnmarshalStrict(text, &members)
	return members, err == nil && len(strict) == 0
}

func stringOf(text json.RawMessage) (s string) {
	if len(text) == 0 || text[0] != '"' || kjson.UnmarshalCaseSensitivePreserveInts(text, &s) != nil {
		return ""
	}
	return s
}

func (e *expectation) add(text json.RawMessage, to schema.GroupVersion) {
	o := expected{text: text}
	members, ok := strictMembers(text)
	meta := members["metadata"]
	if isObject := len(meta) > 0 && meta[0] == '{'; isObject {
		_, unique := strictMembers(meta)
		ok = ok && unique
	}
	apiVersion, kind := stringOf(members["apiVersion"]), stringOf(members["kind"])
	from, err := schema.ParseGroupVersion(apiVersion)
	versions := []string{"v1alpha1", "v1beta1", "v1"}
	switch {
	case !ok || apiVersion == "" || kind == "":
		o.fails = true
	case apiVersion == e.desired:
	case err != nil || from.Group != to.Group || to.Group != "example.com" || kind != "Widget":
		o.fails = true
	case !slices.Contains(versions, from.Version) || !slices.Contains(versions, to.Version):
		o.fails = true
	default:
		o.visited = true
		o.fails = len(meta) > 0 && meta[0] != '{' && string(meta) != "null"
	}
	o.decode()
	e.failed = e.failed || o.fails
	e.objects = append(e.objects, o)
}

// decode reads the object as a whole.
func (o *expected) decode() {
	if o.err = kjson.UnmarshalCaseSensitivePreserveInts(o.text, &o.tree); o.err != nil { // such as 1e400
		o.tree = nil
	}
}

// compare checks what the converter saw, and the answer, against the body.
func (e *expectation) compare(t *testing.T, seen []sight, answer []byte) {
	t.Helper()
	if to := strings.Count(e.desired, "/"); to != 1 || strings.HasPrefix(e.desired, "/") {
		seen = nil // nothing is converted
	} else {
		for _, o := range e.objects {
			if !o.visited {
				continue
			}
			if len(seen) == 0 {
				t.Fatalf("the converter did not see %s", o.text)
			}
			if (seen[0].err == nil) != (o.err == nil) || o.err == nil && !reflect.DeepEqual(seen[0].tree, o.tree) {
				t.Fatalf("the converter saw %v, %v, the decoder %v, %v", seen[0].tree, seen[0].err, o.tree, o.err)
			}
			seen = seen[1:]
		}
	}
	if len(seen) > 0 {
		t.Fatalf("the converter saw %v", seen)
	}
	var got apiextensionsv1.ConversionReview
	strict, err := kjson.UnmarshalStrict(answer, &got)
	if err := errors.Join(append(strict, err)...); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if failed := got.Response.Result.Status != "Success"; failed != e.failed {
		t.Fatalf("failed: %v, want %v: %s", failed, e.failed, answer)
	}
	if e.failed {
		return
	}
	for i, o := range e.objects {
		if err := o.left(e.desired, got.Response.ConvertedObjects[i].Raw); err != nil {
			t.Fatalf("objects[%d]: %v\n%s\n%s", i, err, o.text, answer)
		}
	}
}

// left compares an object with its text in the answer.
func (o *expected) left(desired string, text []byte) error {
	want, ok := o.tree.(map[string]any)
	if !ok {
		return nil
	}
	if want["apiVersion"] == desired && !bytes.Equal(o.text, text) {
		return fmt.Errorf("not what came: %s", text)
	}
	if want["apiVersion"] != desired {
		want["apiVersion"] = desired
		if want["metadata"] == nil {
			want["metadata"] = map[string]any{}
		}
	}
	var tree map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &tree); err != nil {
		return err
	}
	if !reflect.DeepEqual(want, tree) {
		return fmt.Errorf("got %v, want %v", tree, want)
	}
	return nil
}
