package rules

import "github.com/crdconvert/webhookd/internal/jsondoc"

// A key tells the elements of a list apart: "name=x" by one field, {"port":"80","protocol":"TCP"} by several, of which some
// may be absent.

// elementKey returns the key of an element by some fields, and whether it has one.
func (r *run) elementKey(e *jsondoc.Node, fields []string) (string, bool) {
	if len(fields) == 1 {
		text, ok := scalarText(r.member(e, fields[0]))
		return fields[0] + "=" + text, ok
	}
	var key partial
	for _, field := range fields {
		v := r.member(e, field)
		text, ok := scalarText(v)
		if ok {
			key.mark(field, jsondoc.StringValue(text).Text())
		} else if v != nil {
			return "", false
		}
	}
	return string(key.text()), key.buf != nil
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
