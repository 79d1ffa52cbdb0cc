package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
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

func versionOf(object []byte) (group, version string, err error) {
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return "", "", err
	}
	n, err := obj.Get("apiVersion")
	if err != nil {
		return "", "", err
	}
	apiVersion, _ := n.Str()
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		return "", "", fmt.Errorf("object without a version, set it to GROUP/VERSION: .apiVersion")
	}
	return group, version, nil
}

// normal returns an object in the form in which the API server compares: metadata, labels and annotations are there or
// not, not null and not empty.
func normal(object []byte, noStashes bool) any {
	v := decode(object)
	root, _ := v.(map[string]any)
	meta, _ := root["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		strs, _ := meta[name].(map[string]any)
		for key := range strs {
			if noStashes && strings.HasPrefix(key, converters.StashAnnotation("")) {
				delete(strs, key)
			}
		}
		if len(strs) == 0 {
			delete(meta, name)
		}
	}
	if len(meta) == 0 {
		delete(root, "metadata")
	}
	return v
}

func hasStash(object []byte) bool { return differ(normal(object, false), normal(object, true)) != "" }

// differ returns the first path at which two values differ, or "".
func differ(a, b any) string { return differAt(a, b, "") }

func differAt(a, b any, path string) string {
	if reflect.DeepEqual(a, b) {
		return ""
	}
	x, okX := a.(map[string]any)
	y, okY := b.(map[string]any)
	if okX && okY {
		for _, name := range names(x, y) {
			at := path + jsondoc.FormatPath(name)
			u, inX := x[name]
			v, inY := y[name]
			if inX != inY {
				return at
			}
			if diff := differAt(u, v, at); diff != "" {
				return diff
			}
		}
	}
	l, okL := a.([]any)
	m, okM := b.([]any)
	if okL && okM && len(l) == len(m) {
		for i := range l {
			if diff := differAt(l[i], m[i], fmt.Sprintf("%s[%d]", path, i)); diff != "" {
				return diff
			}
		}
	}
	if path == "" {
		return "."
	}
	return path
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
