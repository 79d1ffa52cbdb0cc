package roundtrip

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// decoded reads an object as the API server does (k8s.io/apimachinery/pkg/util/json): a number is
// an int64 if it is whole and fits, and a float64 otherwise.
func decoded(object []byte) map[string]any {
	m, _ := must(decode(object, false)).(map[string]any)
	return m
}

// literal reads JSON with its numbers as their literals.
func literal(text []byte) any { return must(decode(text, true)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic("roundtrip: " + err.Error())
	}
	return v
}

// decode reads JSON. A run does this so often that the decoders of encoding/json and utiljson are
// too slow.
func decode(text []byte, literals bool) (any, error) {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	v, err := decodeNext(&s, literals)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func decodeNext(s *jsondoc.Scanner, literals bool) (any, error) {
	kind := s.Kind()
	switch kind {
	case jsondoc.Map:
		m := map[string]any{}
		err := s.EveryMember(func(name []byte) (err error) {
			key := string(name)
			m[key], err = decodeNext(s, literals)
			return err
		})
		return m, err
	case jsondoc.Array:
		l := []any{}
		err := s.Elements(func() error {
			v, err := decodeNext(s, literals)
			l = append(l, v)
			return err
		})
		return l, err
	default:
	}
	at, err := s.Skip()
	if err != nil {
		return nil, err
	}
	text := s.Text(at)
	switch {
	case kind == jsondoc.String:
		return jsondoc.Unquote(text), nil
	case kind == jsondoc.Bool:
		return text[0] == 't', nil
	case kind == jsondoc.Null:
		return nil, nil
	case literals:
		return json.Number(text), nil
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseFloat(string(text), 64)
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

// copied returns a copy of a decoded value that shares nothing that can change.
func copied[T any](v T) T {
	out, _ := runtime.DeepCopyJSONValue(v).(T)
	return out
}

// absent is the value of a place that is not there.
type absent struct{}

// isAbsent reports whether a value is not there.
func isAbsent(v any) bool { return v == any(absent{}) }

// at returns the value that a path of names and indexes leads to, or absent.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			value, found := fields[step]
			if v = value; !found {
				return absent{}
			}
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return absent{}
			}
			v = list[step]
		}
	}
	return v
}

// formatPath writes a path of names and indexes for messages.
func formatPath(path []any) string {
	var text strings.Builder
	for _, step := range path {
		if name, ok := step.(string); ok {
			text.WriteString(jsondoc.FormatPath(name))
		} else {
			fmt.Fprintf(&text, "[%v]", step)
		}
	}
	return text.String()
}

// A gap is the first place at which two values differ, with what is there; its path is "" if there
// is none.
type gap struct {
	path    string
	was, is any
}

func newGap(path string, was, is any) gap {
	if path == "" {
		path = "."
	}
	return gap{path, was, is}
}

// difference returns the first place at which two values differ.
func difference(was, is any, path string) gap {
	l, isList := was.([]any)
	m, areLists := is.([]any)
	if !isList || !areLists || len(l) != len(m) {
		return memberwise(was, is, path, difference)
	}
	for i := range l {
		if diff := difference(l[i], m[i], fmt.Sprintf("%s[%d]", path, i)); diff.path != "" {
			return diff
		}
	}
	return gap{}
}

// lost returns the first place of an object that is not what it was. A new member is not a loss.
func lost(was, is any, path string) gap {
	return memberwise(was, is, path, func(was, is any, path string) gap {
		if isAbsent(was) {
			return gap{}
		}
		return lost(was, is, path)
	})
}

// memberwise compares the members of objects by a function, and other values as a whole.
func memberwise(was, is any, path string, by func(was, is any, path string) gap) gap {
	x, okX := was.(map[string]any)
	y, okY := is.(map[string]any)
	switch {
	case equal(was, is):
		return gap{}
	case !okX || !okY:
		return newGap(path, was, is)
	}
	for _, name := range names(x, y) {
		if diff := by(at(x, name), at(y, name), path+jsondoc.FormatPath(name)); diff.path != "" {
			return diff
		}
	}
	return gap{}
}

// equal compares JSON values: numbers that were decoded by their value, literals of numbers by
// their text.
func equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, equal)
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

// names returns the names of the members of objects, in order.
func names(objects ...map[string]any) []string {
	var all []string
	for _, o := range objects {
		all = slices.AppendSeq(all, maps.Keys(o))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// A part is a member of an object or an element of a list, which can be changed in place.
type part struct {
	path         []any
	value        any
	set          func(v any)
	remove, undo func()
}

// parts lists the parts of an object except its apiVersion and kind: outer ones first, in the order
// of their names.
func parts(object any) []part {
	var all []part
	var walk func(v any, path []any, store func(v any))
	add := func(p part) {
		all = append(all, p)
		walk(p.value, p.path, p.set)
	}
	walk = func(v any, path []any, store func(v any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range names(v) {
				if store != nil || name != "apiVersion" && name != "kind" {
					value := v[name]
					set := func(item any) { v[name] = item }
					add(part{append(slices.Clip(path), name), value, set, func() { delete(v, name) }, func() { v[name] = value }})
				}
			}
		case []any:
			for i, value := range v {
				set := func(item any) { v[i] = item }
				remove := func() { store(slices.Delete(slices.Clone(v), i, i+1)) } // never nil, as Concat may be
				add(part{append(slices.Clip(path), i), value, set, remove, func() { v[i] = value; store(v) }})
			}
		}
	}
	walk(object, nil, nil)
	return all
}

// isMeta reports whether a part is the metadata of the object or in it.
func (p part) isMeta() bool { return p.path[0] == "metadata" }

// eachPart yields a value with an edit of each of its parts. The value is changed while it is
// yielded, and only then.
func eachPart(root any, edit func(part)) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, p := range parts(root) {
			edit(p)
			ok := yield(root)
			if p.undo(); !ok {
				return
			}
		}
	}
}
