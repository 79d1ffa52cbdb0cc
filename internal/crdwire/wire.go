package crdwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/crdconvert/webhookd/internal/yamljson"
)

// WireOptions say how CRDs are wired.
type WireOptions struct {
	Target         Target
	Bundle         Bundle   // empty: what is there stays, if it is for the same target
	ReviewVersions []string // of ConversionReview, the best first
	Names          []string // of the CRDs to wire; empty means all
	Force          bool     // those that point elsewhere as well
}

// A Wired is a CRD that Wire has wired.
type Wired struct {
	Name      string
	Versions  int
	HasBundle bool
}

// Wire sets spec.conversion of the CRDs in a YAML or JSON text, and returns the text, in which no byte is different but for
// what says it. Documents of other kinds stay as they are. The error is all that is wrong.
func Wire(text []byte, o WireOptions) ([]byte, []Wired, error) {
	w := &wirer{splicer: splicer{source: newSource(text)}, options: o}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		}
		if len(document.Content) > 0 {
			w.object(document.Content[0])
		}
	}
	for _, name := range o.Names {
		if !slices.ContainsFunc(w.wired, func(c Wired) bool { return c.Name == name }) && len(w.problems) == 0 {
			w.problems = append(w.problems, fmt.Errorf("no such %s here: %s", crdKind, name))
		}
	}
	if err := errors.Join(w.problems...); err != nil {
		return nil, nil, err
	}
	if len(w.wired) == 0 {
		return nil, nil, fmt.Errorf("no %s of apiextensions.k8s.io/v1 here", crdKind)
	}
	result := w.result()
	if err := w.verify(text, result); err != nil {
		return nil, nil, err
	}
	return result, w.wired, nil
}

type wirer struct {
	splicer

	options  WireOptions
	wired    []Wired
	stanzas  []any // what spec.conversion of each became
	problems []error
}

func text(n *yaml.Node, name string) string {
	if _, value := find(n, name); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// isList tells the lists of objects that kubectl writes.
func isList(apiVersion, kind string) bool {
	return kind == "List" && apiVersion == "v1" || kind == crdKind+"List"
}

func (w *wirer) object(n *yaml.Node) {
	apiVersion, kind := text(n, "apiVersion"), text(n, "kind")
	if isList(apiVersion, kind) {
		if _, items := find(n, "items"); items != nil {
			for _, item := range items.Content {
				w.object(item)
			}
		}
		return
	}
	if kind != crdKind || !strings.HasPrefix(apiVersion, apiextensionsv1.GroupName+"/") {
		return
	}
	_, metadata := find(n, "metadata")
	name := text(metadata, "name")
	if len(w.options.Names) > 0 && !slices.Contains(w.options.Names, name) {
		return
	}
	if err := w.crd(n, apiVersion, name); err != nil {
		w.problems = append(w.problems, fmt.Errorf("line %d: %w: %s", n.Line, err, name))
	}
}

func (w *wirer) crd(n *yaml.Node, apiVersion, name string) error {
	key, spec := find(n, "spec")
	switch {
	case apiVersion != apiextensionsv1.SchemeGroupVersion.String():
		return fmt.Errorf("write it as %s first, no API server serves %s any more", apiextensionsv1.SchemeGroupVersion, apiVersion)
	case spec == nil || spec.Kind != yaml.MappingNode || len(spec.Content) == 0:
		return fmt.Errorf("%s without a spec", crdKind)
	}
	var now *apiextensionsv1.CustomResourceConversion
	if _, conversion := find(spec, "conversion"); conversion != nil && conversion.ShortTag() != "!!null" {
		now = &apiextensionsv1.CustomResourceConversion{}
		if err := decodeNode(conversion, now); err != nil {
			return fmt.Errorf("spec.conversion cannot be read: %w", err)
		}
	}
	if err := elsewhere(now, w.options.Target); err != nil && !w.options.Force {
		return err
	}
	bundle := w.options.Bundle.PEM()
	if at, is := targetOf(now); is && len(bundle) == 0 && at.Same(w.options.Target) {
		bundle = now.Webhook.ClientConfig.CABundle
	}
	conversion := member{"conversion", w.options.Target.members(w.options.ReviewVersions, bundle)}
	w.setFirst(key, spec, conversion)
	_, versions := find(spec, "versions")
	wired := Wired{Name: name, HasBundle: len(bundle) > 0}
	if versions != nil {
		wired.Versions = len(versions.Content)
	}
	w.wired = append(w.wired, wired)
	w.stanzas = append(w.stanzas, tree(conversion.value))
	return nil
}

// decodeNode reads YAML by way of JSON, as the API server does.
func decodeNode(n *yaml.Node, into any) error {
	text, err := yaml.Marshal(n)
	if err != nil {
		return err
	}
	documents, err := yamljson.ToJSON(text)
	switch {
	case err != nil:
		return err
	case len(documents) != 1:
		return errors.New("not an object")
	}
	return json.Unmarshal(documents[0], into)
}

// verify reads the result, which must be what was there and spec.conversion: where YAML is written in a way that the
// splicer does not know, nothing comes out rather than something wrong.
func (w *wirer) verify(before, after []byte) error {
	want, err := trees(before)
	if err != nil {
		return err
	}
	stanzas := w.stanzas
	for _, document := range want {
		stanzas = w.expect(document, stanzas)
	}
	got, err := trees(after)
	if err != nil || len(stanzas) > 0 || !reflect.DeepEqual(want, got) {
		return fmt.Errorf("this YAML is written in a way that cannot be changed in place: write spec without anchors, aliases and merge keys")
	}
	return nil
}

func (w *wirer) expect(v any, stanzas []any) []any {
	object, _ := v.(map[string]any)
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if isList(apiVersion, kind) {
		items, _ := object["items"].([]any)
		for _, item := range items {
			stanzas = w.expect(item, stanzas)
		}
		return stanzas
	}
	if kind != crdKind || !strings.HasPrefix(apiVersion, apiextensionsv1.GroupName+"/") || len(stanzas) == 0 {
		return stanzas
	}
	metadata, _ := object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	spec, _ := object["spec"].(map[string]any)
	if spec == nil || len(w.options.Names) > 0 && !slices.Contains(w.options.Names, name) {
		return stanzas
	}
	spec["conversion"] = stanzas[0]
	return stanzas[1:]
}

// trees reads the documents of a text; numbers keep their spelling.
func trees(text []byte) ([]any, error) {
	documents, err := yamljson.ToJSON(text)
	if err != nil {
		return nil, err
	}
	all := make([]any, len(documents))
	for i, document := range documents {
		decoder := json.NewDecoder(bytes.NewReader(document))
		decoder.UseNumber()
		if err := decoder.Decode(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
