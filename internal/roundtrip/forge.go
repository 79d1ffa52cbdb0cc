package roundtrip

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// forgeries holds an object at a version, which came from another one, to L13: with annotations that somebody else wrote.
func (s *suite) forgeries(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	state := s.view(version, object)
	s.forge(r, state, from)
	s.stats.forgeries.Add(1)
	t, v := s.subject(ctx, encode(state))
	if v != nil || t.class == wild {
		return v
	}
	return t.wellFormed(from)
}

// wellFormed is L13: whatever the object keeps, its conversion fails only if it does without, and is as well formed.
func (t *subject) wellFormed(to string) *ViolationError {
	clean, err := t.convert(t.ctx, encode(visible(t.read(t.object))), t.version, to)
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

// malformation says what is structurally wrong with an object of a version, or nothing. What the API server removes by itself does
// no harm: a kept value may have fields that only a newer schema knows (L12).
func malformation(t *subject, version string, object []byte) string {
	var read map[string]any
	if err := utiljson.Unmarshal(object, &read); err != nil {
		return "the API server cannot read it, " + err.Error()
	}
	if path := badEntry(read); path != "" {
		return "the API server refuses " + path
	}
	schema := t.schema(version)
	if schema == nil {
		return ""
	}
	schema.Prune(read)
	schema.Default(read)
	for _, problem := range schema.Validate(read) {
		if problem.Type == field.ErrorTypeTypeInvalid && ofAnotherType.MatchString(problem.Detail) || problem.Type == field.ErrorTypeDuplicate {
			return problem.Error()
		}
	}
	return ""
}

// ofAnotherType is true of what the API server says of a value of another type, but not of one of another format.
var ofAnotherType = regexp.MustCompile(`must be of type (object|array|string|integer|number|boolean|null)\b`)

// forge gives an object annotations of webhookd's names: its own, changed; such as are written by the format's grammar; noise. Most
// are of one version.
func (s *suite) forge(r *rand.Rand, object map[string]any, version string) {
	for range 1 + r.IntN(4) {
		kept := keptIn(object, "")
		switch n := r.IntN(8); {
		case n < 4 && len(kept) > 0:
			names := slices.Sorted(maps.Keys(kept))
			name, as := names[r.IntN(len(names))], names[r.IntN(len(names))]
			annotate(object, map[string]string{as: tampered(r, kept[name])})
		case n < 7:
			if r.IntN(8) == 0 {
				version = s.versions()[r.IntN(len(s.versions()))]
			}
			s.written(r, object, version)
		default:
			malformed(r, object, version, version)
		}
	}
}

// tampered changes the text of a kept value.
func tampered(r *rand.Rand, text string) string {
	if !json.Valid([]byte(text)) || r.IntN(8) == 0 {
		return pick(r, text[:r.IntN(len(text)+1)], text+"x", " "+text, text+text)
	}
	root := decode([]byte(text))
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
			p.set(odd(r))
		}
	}
	return string(encode(root))
}

// odd makes a value that fits few places.
func odd(r *rand.Rand) any {
	if r.IntN(200) == 0 {
		return json.RawMessage(strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000))
	}
	return json.RawMessage(pick(r, "null", "true", "0", "-1", "1.5", "1e999", "9007199254740993", `""`, `"x"`, `" a b "`, `"\u0000"`, "[]", "{}", "[null]",
		"[[]]", "[{}]", "[{},{}]", `{"":null}`, `{"":{"":[]}}`, `{"a":1,"a":{}}`, `{"name":"a","value":{}}`, `{"metadata":{"name":1}}`, `[1,"a",{"b":null}]`))
}

// written adds an annotation by the grammar of docs/reference/annotations.md, for a place that some object of the version has.
func (s *suite) written(r *rand.Rand, object map[string]any, version string) {
	pool := s.pools[version]
	if len(pool) == 0 {
		return
	}
	path, value := s.placeIn(r, withoutIdentity(pool[r.IntN(len(pool))]))
	if len(path) == 0 {
		return
	}
	text := entry(r, value)
	name, says := keptName(version, path)
	if !says || r.IntN(16) == 0 {
		text["path"] = path
	}
	if r.IntN(12) == 0 {
		name, text = keptPrefix+version, withoutIdentity(pool[r.IntN(len(pool))])
	}
	annotate(object, map[string]string{name: string(encode(text))})
}

// placeIn returns the path of a place of an object, and what is there: names of members, and the keys of elements.
func (s *suite) placeIn(r *rand.Rand, value any) ([]any, any) {
	var path []any
	for {
		switch v := value.(type) {
		case map[string]any:
			all := names(v)
			if len(all) == 0 || len(path) > 1 && r.IntN(4) == 0 {
				return path, value
			}
			name := all[r.IntN(len(all))]
			path, value = append(path, name), v[name]
		case []any:
			if len(v) == 0 || r.IntN(2) == 0 {
				return path, value
			}
			value = v[r.IntN(len(v))]
			keys := map[string]any{}
			if e, ok := value.(map[string]any); ok {
				for _, name := range names(e) {
					if !isMap(e[name]) && !isList(e[name]) && len(keys) < 2 {
						keys[name] = e[name]
					}
				}
			}
			path = append(path, keys)
		default:
			return path, value
		}
	}
}

var (
	// plainName are names of members that the name of an annotation can have.
	plainName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?$`)
	unplain   = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// keptName returns the name of the annotation of a path, and whether it says the path: else it has the names that there is room
// for, and a digest.
func keptName(version string, path []any) (name string, says bool) {
	const longest = 63
	prefix, short := keptPrefix, []string{version}
	words := append(make([]string, 0, 1+len(path)), version)
	if path[0] == "status" {
		prefix = statusPrefix
	}
	tail := "--" + strconv.FormatUint(hash(string(encode(path))+"\x00"), 36)
	says = true
	for _, step := range path {
		word, ok := step.(string)
		says = says && ok && plainName.MatchString(word)
		words = append(words, word)
		word = strings.Trim(unplain.ReplaceAllString(word, "-"), "-")
		if word != "" && len(strings.Join(short, "."))+1+len(word)+len(tail) <= longest {
			short = append(short, word)
		}
	}
	if name = strings.Join(words, "."); says && len(name) <= longest {
		return prefix + name, true
	}
	return prefix + strings.Join(short, ".") + tail, false
}

// entry makes the members of a kept value.
func entry(r *rand.Rand, value any) map[string]any {
	if r.IntN(3) == 0 {
		value = odd(r)
	}
	e := map[string]any{}
	switch r.IntN(8) {
	case 0:
		e["absent"] = true
	case 1:
		list := map[string]any{"was": pick(r, "", "1p5rssy", "a b c"), "parts": map[string]any{pick(r, "0", "1", "-1", "x", "99999999999"): map[string]any{
			"kept": []any{map[string]any{"value": value, "path": []any{"name"}}}, "alike": pick(r, "", "a b"),
		}}}
		if r.IntN(2) == 0 {
			list["extra"] = []any{map[string]any{"after": r.IntN(4) - 1, "value": value}}
		}
		e["list"] = list
	case 2:
		e["order"] = []any{map[string]any{"name": value}, map[string]any{"name": "a"}}
	case 3:
		e["parts"] = []any{map[string]any{"value": value, "path": []any{}}, map[string]any{"absent": true, "path": []any{"name", map[string]any{"name": "a"}}}}
	default:
		e["value"] = value
	}
	if r.IntN(4) == 0 {
		e["base"] = pick(r, "", "0", "1p5rssy", "zzzzzzzzzzzzz")
	}
	if r.IntN(4) == 0 {
		e["in"] = r.IntN(4)
	}
	return e
}
