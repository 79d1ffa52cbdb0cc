package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// decode reads JSON with its numbers as their literals.
func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic("roundtrip: not JSON: " + err.Error())
	}
	return v
}

func encode(v any) []byte {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("roundtrip: " + err.Error())
	}
	return bytes.TrimSpace(text.Bytes())
}

func versionOf(object []byte) (string, error) {
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return "", err
	}
	n, err := obj.Get("apiVersion")
	if err != nil {
		return "", err
	}
	apiVersion, _ := n.Str()
	_, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", fmt.Errorf("object without a version, set it to GROUP/VERSION: .apiVersion")
	}
	return version, nil
}

// A gap is where two values differ first: its path, or "" if they do not, and what is there; absent values are nil.
type gap struct {
	path string
	a, b any
	inA  bool
	inB  bool
}

func difference(a, b any, path string) gap {
	if equal(a, b) {
		return gap{}
	}
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if okX && okY {
		for _, name := range names(x, y) {
			at := path + jsondoc.FormatPath(name)
			u, inX := x[name]
			v, inY := y[name]
			if inX != inY {
				return gap{at, u, v, inX, inY}
			}
			if diff := difference(u, v, at); diff.path != "" {
				return diff
			}
		}
	}
	l, okL := a.([]any)
	m, okM := b.([]any)
	if okL && okM && len(l) == len(m) {
		for i := range l {
			if diff := difference(l[i], m[i], fmt.Sprintf("%s[%d]", path, i)); diff.path != "" {
				return diff
			}
		}
	}
	if path == "" {
		path = "."
	}
	return gap{path, a, b, true, true}
}

// equal compares JSON values: numbers that were decoded by their value, literals of numbers by their text.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			if other, found := b[name]; !found || !equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b && int64(b) == a
		}
	case float64:
		if b, ok := b.(int64); ok {
			return equal(b, a)
		}
	}
	return a == b
}

func names(objects ...map[string]any) []string {
	var all []string
	for _, o := range objects {
		for name := range o {
			all = append(all, name)
		}
	}
	sort.Strings(all)
	return slices.Compact(all)
}

// metadataTexts returns the text of each member of the metadata but labels and annotations.
func metadataTexts(object []byte) map[string]string {
	texts := map[string]string{}
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return texts
	}
	meta, err := obj.Get("metadata")
	if err != nil {
		return texts
	}
	err = meta.Each(func(name string, value *jsondoc.Node) bool {
		if name != "labels" && name != "annotations" {
			texts[name] = string(value.Text())
		}
		return true
	})
	if err != nil {
		return nil
	}
	return texts
}
