package exec

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A key tells the elements of a list apart: "name=x" by one field, {"port":"80","protocol":"TCP"} by several.

// elementKey returns the key of an element by some fields, and whether it has them all.
func (r *run) elementKey(e *jsondoc.Node, fields []string) (string, bool) {
	if len(fields) == 1 {
		text, ok := scalarText(r.member(e, fields[0]))
		return fields[0] + "=" + text, ok
	}
	var key partial
	for _, field := range fields {
		text, ok := scalarText(r.member(e, field))
		if !ok {
			return "", false
		}
		key.mark(field, jsondoc.StringValue(text).Text())
	}
	return string(key.text()), key.buf != nil
}

// keyFields returns the fields that a key is made of, or none if the text is no key.
func keyFields(key string) []string {
	if field, _, one := strings.Cut(key, "="); one && !strings.HasPrefix(key, "{") {
		return []string{field}
	}
	var fields []string
	if o, err := jsondoc.ParseObject([]byte(key)); err == nil {
		_ = o.Each(func(name string, _ *jsondoc.Node) bool { fields = append(fields, name); return true })
	}
	return fields
}

// common returns those of some fields that all elements of some lists have: the other version may not know all.
func (r *run) common(fields []string, lists ...[]entry) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		return slices.ContainsFunc(lists, func(list []entry) bool {
			return slices.ContainsFunc(list, func(e entry) bool {
				_, ok := scalarText(r.member(e.value, field))
				return !ok
			})
		})
	})
}

// distinctKeys returns the keys of elements, or nil unless each has one of its own.
func (r *run) distinctKeys(list []entry, fields []string) []string {
	if len(fields) == 0 {
		return nil
	}
	keys, seen := make([]string, len(list)), make(map[string]bool, len(list))
	for i, e := range list {
		key, ok := r.elementKey(e.value, fields)
		if !ok || seen[key] {
			return nil
		}
		keys[i], seen[key] = key, true
	}
	return keys
}
