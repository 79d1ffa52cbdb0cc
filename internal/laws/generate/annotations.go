package generate

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// AddMalformed gives an object annotations that have webhookd's names and keep nothing.
func AddMalformed(r *rand.Rand, object map[string]any, version, to string) {
	for range 1 + r.IntN(3) {
		name := Pick(r, annotation.Prefix, annotation.Prefix, annotation.StatusPrefix) + Pick(r, version, to, to) + Pick(r, "", ".spec", ".spec.a.b", ".metadata", ".spec--0")
		tree.Annotate(object, map[string]string{name: Pick(r,
			"", "{", "null", "[]", "0", `"`, "{} {}", "{}", `{"a":1}`, `{"a":1,"a":2}`, `{"value":1,"value":2}`, `{"value":1,"more":2}`, `{"value":`,
			`{"value":1} `+"\x00", `{"absent":false}`, `{"value":1,"absent":true}`, `{"list":1}`, `{"order":{}}`, `{"value":1,"in":-1}`,
			`{"value":1,"base":1}`, `{"value":1,"path":"spec"}`, "[[[[[[[[", "\x00", "\xff",
		)})
	}
}

// MutatedText changes the text of a kept value.
func MutatedText(r *rand.Rand, text string) string {
	root, err := jsondoc.Decode([]byte(text), true)
	if err != nil || r.IntN(8) == 0 {
		return Pick(r, text[:r.IntN(len(text)+1)], text+"x", " "+text, text+text)
	}
	for range 1 + r.IntN(2) {
		all := tree.Parts(root)
		if len(all) == 0 {
			break
		}
		switch p := all[r.IntN(len(all))]; r.IntN(4) {
		case 0:
			p.Remove()
		case 1:
			p.Set(MutatedValue(r, p.Value))
		default:
			p.Set(json.RawMessage(oddValue(r)))
		}
	}
	return string(tree.Encode(root))
}

// oddValue returns the JSON text of a value that fits few places.
func oddValue(r *rand.Rand) string {
	if r.IntN(200) == 0 {
		return strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	}
	return Pick(r, "null", "true", "0", "-1", "1.5", "1e999", "9007199254740993", `""`, `"x"`, `" a b "`, `"\u0000"`, "[]", "{}", "[null]",
		"[[]]", "[{}]", "[{},{}]", `{"":null}`, `{"":{"":[]}}`, `{"a":1,"a":{}}`, `{"name":"a","value":{}}`, `{"metadata":{"name":1}}`, `[1,"a",{"b":null}]`)
}

// AddForged adds an annotation by the grammar of docs/explanation/losslessness.md, for a place
// that another object of the version has.
func AddForged(r *rand.Rand, object, other map[string]any, version string) {
	other = tree.WithoutIdentity(other)
	all := tree.Parts(other)
	if len(all) == 0 {
		return
	}
	p := all[r.IntN(len(all))]
	if lists := slices.DeleteFunc(slices.Clone(all), func(p tree.Part) bool { return !tree.IsList(p.Value) }); len(lists) > 0 && r.IntN(3) == 0 {
		p = lists[r.IntN(len(lists))]
	}
	forms := []string{
		`{"value":VALUE}`, `{"value":VALUE}`, `{"value":VALUE}`, `{"value":VALUE}`, `{"absent":true}`,
		`{"parts":[{"value":VALUE,"path":[]},{"absent":true,"path":["name",{"name":"a"}]}]}`,
	}
	if tree.IsList(p.Value) || r.IntN(8) == 0 {
		forms = append(forms, `{"order":[{"name":VALUE},{"name":"a"}]}`,
			`{"order":[{"name":"a"},{"name":VALUE}],"added":[{"after":AFTER,"value":{"name":"a"}},{"after":AFTER,"value":VALUE}]}`,
			`{"list":{"length":LENGTH,"added":[{"after":AFTER,"value":VALUE}]}}`,
			`{"list":{"length":LENGTH,"elements":{"INDEX":{"was":"1p5rssy","kept":[{"value":VALUE,"path":["name"]}],"alike":"a b"}}}}`)
	}
	value := string(tree.Encode(p.Value))
	if r.IntN(3) == 0 {
		value = oddValue(r)
	}
	text := strings.NewReplacer("VALUE", value, "AFTER", Pick(r, "-1", "0", "1", "2"), "LENGTH", Pick(r, "0", "1", "2", "-1", "x"), "INDEX", Pick(r, "0", "1", "-1", "x", "99999999999")).Replace(Pick(r, forms...))
	text = strings.TrimSuffix(text, "}") +
		Pick(r, "", "", "", `,"inputs":""`, `,"inputs":"0"`, `,"inputs":"1p5rssy"`, `,"object":"1p5rssy"`, `,"object":"x-y"`) + Pick(r, "", "", "", `,"in":0`, `,"in":1`, `,"in":3`) + "}"
	path, inJSON := keptPath(other, p.Path)
	name, simple := annotation.Name(version, path)
	if !simple || r.IntN(16) == 0 {
		text = strings.TrimSuffix(text, "}") + `,"path":` + string(tree.Encode(inJSON)) + "}"
	}
	if r.IntN(12) == 0 {
		name, text = annotation.Prefix+version, string(tree.Encode(other))
	}
	tree.Annotate(object, map[string]string{name: text})
}

// keptPath returns a path as package keep has it, and as the JSON of a kept value has it. The keys
// of an element are its first two scalars.
func keptPath(object any, path []any) (kept annotation.Path, inJSON []any) {
	for i, step := range path {
		if name, ok := step.(string); ok {
			kept, inJSON = append(kept, annotation.PathElement{Name: name}), append(inJSON, name)
			continue
		}
		element, _ := tree.At(object, path[:i+1]...).(map[string]any)
		s, keys := annotation.PathElement{}, map[string]any{}
		for _, name := range tree.Names(element) {
			if value := element[name]; len(keys) < 2 && !tree.IsMap(value) && !tree.IsList(value) {
				keys[name] = value
				s.Keys = append(s.Keys, annotation.Key{Name: name, Value: string(tree.Encode(value))})
			}
		}
		kept, inJSON = append(kept, s), append(inJSON, keys)
	}
	return kept, inJSON
}
