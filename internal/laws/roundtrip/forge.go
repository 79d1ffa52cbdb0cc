package roundtrip

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/converters/keep"
)

// forgeries holds an object at a version, which came from another one, to L13: with annotations
// that someone else wrote.
func (s *suite) forgeries(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	if !s.Forgeries {
		return nil
	}
	s.count(func(c *Stats) { c.Forgeries++ })
	state := s.View(version, object)
	s.forge(ctx, r, state, version, from)
	t, v := s.subject(ctx, encode(state))
	if v != nil || t.class == wild {
		return v
	}
	return t.wellFormed(from)
}

// wellFormed is L13: whatever the object keeps, its conversion fails only if it does without, and
// is as well formed.
func (t *subject) wellFormed(to string) *ViolationError {
	clean, err := t.convert(t.ctx, encode(visible(t.Read(t.object))), t.version, to)
	if err != nil || t.refused || malformation(t, to, clean) != "" {
		return nil //nolint:nilerr // L7, L6
	}
	result, err := t.convert(t.ctx, t.object, t.version, to)
	if err != nil {
		return t.violation(lawWellFormed, to, "%v, without kept values %s", err, clean)
	}
	if problem := malformation(t, to, result); problem != "" {
		return t.violation(lawWellFormed, to, "%s: %s, without kept values %s", problem, result, clean)
	}
	return nil
}

// malformation says what is structurally wrong with an object of a version, or nothing. What the
// API server removes by itself does no harm: a kept value may have fields that only a newer schema
// knows (L12).
func malformation(t *subject, version string, object []byte) string {
	var read map[string]any
	if err := utiljson.Unmarshal(object, &read); err != nil {
		return "the API server cannot read it, " + err.Error()
	}
	if path := BadEntry(read); path != "" {
		return "the API server refuses " + path
	}
	for _, problem := range t.problems(version, read) {
		if isMistyped(problem) || problem.Type == field.ErrorTypeDuplicate {
			return problem.Error()
		}
	}
	return ""
}

// problems are those of an object with the schema of a version, after pruning and defaulting.
func (s *suite) problems(version string, object map[string]any) field.ErrorList {
	schema := s.Schema(version)
	if schema == nil {
		return nil
	}
	s.Admit(version, object)
	return schema.Validate(object)
}

// isMistyped reports whether a value is of another type than its schema says.
func isMistyped(problem *field.Error) bool {
	return problem.Type == field.ErrorTypeTypeInvalid && ofAnotherType.MatchString(problem.Detail)
}

// ofAnotherType matches what the API server says of a value of another type, but not of one of
// another format.
var ofAnotherType = regexp.MustCompile(`must be of type (object|array|string|integer|number|boolean|null)\b`)

// forge gives an object at a version, which is to be converted to another one, annotations with
// webhookd's names: its own or those of another object, changed; some that follow the format's
// grammar; noise. Most are of the other version.
func (s *suite) forge(ctx context.Context, r *rand.Rand, object map[string]any, version, to string) {
	if r.IntN(4) == 0 {
		s.stale(ctx, r, object, version, to)
	}
	for range 1 + r.IntN(4) {
		kept := keptIn(object, "")
		of := to
		if r.IntN(8) == 0 {
			of = pick(r, s.Versions...)
		}
		switch n := r.IntN(8); {
		case n < 4 && len(kept) > 0:
			own := slices.Sorted(maps.Keys(kept))
			annotate(object, map[string]string{pick(r, own...): tampered(r, kept[pick(r, own...)])})
		case n < 7 && len(s.pools[of]) > 0:
			grammatical(r, object, pick(r, s.pools[of]...), of)
		default:
			malformed(r, object, of, of)
		}
	}
}

// tampered changes the text of a kept value.
func tampered(r *rand.Rand, text string) string {
	root, err := decode([]byte(text), true)
	if err != nil || r.IntN(8) == 0 {
		return pick(r, text[:r.IntN(len(text)+1)], text+"x", " "+text, text+text)
	}
	for range 1 + r.IntN(2) {
		all := parts(root)
		if len(all) == 0 {
			break
		}
		switch p := all[r.IntN(len(all))]; r.IntN(4) {
		case 0:
			p.remove()
		case 1:
			p.set(another(r, p.value))
		default:
			p.set(json.RawMessage(odd(r)))
		}
	}
	return string(encode(root))
}

// odd returns the JSON text of a value that fits few places.
func odd(r *rand.Rand) string {
	if r.IntN(200) == 0 {
		return strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	}
	return pick(r, "null", "true", "0", "-1", "1.5", "1e999", "9007199254740993", `""`, `"x"`, `" a b "`, `"\u0000"`, "[]", "{}", "[null]",
		"[[]]", "[{}]", "[{},{}]", `{"":null}`, `{"":{"":[]}}`, `{"a":1,"a":{}}`, `{"name":"a","value":{}}`, `{"metadata":{"name":1}}`, `[1,"a",{"b":null}]`)
}

// grammatical adds an annotation by the grammar of docs/explanation/losslessness.md, for a place
// that another object of the version has.
func grammatical(r *rand.Rand, object, other map[string]any, version string) {
	other = withoutIdentity(other)
	all := parts(other)
	if len(all) == 0 {
		return
	}
	p := all[r.IntN(len(all))]
	if lists := slices.DeleteFunc(slices.Clone(all), func(p part) bool { return !isList(p.value) }); len(lists) > 0 && r.IntN(3) == 0 {
		p = lists[r.IntN(len(lists))]
	}
	forms := []string{
		`{"value":VALUE}`, `{"value":VALUE}`, `{"value":VALUE}`, `{"value":VALUE}`, `{"absent":true}`,
		`{"parts":[{"value":VALUE,"path":[]},{"absent":true,"path":["name",{"name":"a"}]}]}`,
	}
	if isList(p.value) || r.IntN(8) == 0 {
		forms = append(forms, `{"order":[{"name":VALUE},{"name":"a"}]}`,
			`{"order":[{"name":"a"},{"name":VALUE}],"added":[{"after":AFTER,"value":{"name":"a"}},{"after":AFTER,"value":VALUE}]}`,
			`{"list":{"length":LENGTH,"added":[{"after":AFTER,"value":VALUE}]}}`,
			`{"list":{"length":LENGTH,"elements":{"INDEX":{"was":"1p5rssy","kept":[{"value":VALUE,"path":["name"]}],"alike":"a b"}}}}`)
	}
	value := string(encode(p.value))
	if r.IntN(3) == 0 {
		value = odd(r)
	}
	text := strings.NewReplacer("VALUE", value, "AFTER", pick(r, "-1", "0", "1", "2"), "LENGTH", pick(r, "0", "1", "2", "-1", "x"), "INDEX", pick(r, "0", "1", "-1", "x", "99999999999")).Replace(pick(r, forms...))
	text = strings.TrimSuffix(text, "}") +
		pick(r, "", "", "", `,"inputs":""`, `,"inputs":"0"`, `,"inputs":"1p5rssy"`, `,"object":"1p5rssy"`, `,"object":"x-y"`) + pick(r, "", "", "", `,"in":0`, `,"in":1`, `,"in":3`) + "}"
	path, inJSON := keptPath(other, p.path)
	name, simple := keep.AnnotationName(version, path)
	if !simple || r.IntN(16) == 0 {
		text = strings.TrimSuffix(text, "}") + `,"path":` + string(encode(inJSON)) + "}"
	}
	if r.IntN(12) == 0 {
		name, text = keep.Prefix+version, string(encode(other))
	}
	annotate(object, map[string]string{name: text})
}

// keptPath returns a path as package keep has it, and as the JSON of a kept value has it. The keys
// of an element are its first two scalars.
func keptPath(object any, path []any) (kept keep.Path, inJSON []any) {
	for i, step := range path {
		if name, ok := step.(string); ok {
			kept, inJSON = append(kept, keep.PathElement{Name: name}), append(inJSON, name)
			continue
		}
		element, _ := at(object, path[:i+1]...).(map[string]any)
		s, keys := keep.PathElement{}, map[string]any{}
		for _, name := range names(element) {
			if value := element[name]; len(keys) < 2 && !isMap(value) && !isList(value) {
				keys[name] = value
				s.Keys = append(s.Keys, keep.Key{Name: name, Value: string(encode(value))})
			}
		}
		kept, inJSON = append(kept, s), append(inJSON, keys)
	}
	return kept, inJSON
}
