package tree

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// ParsePath reads a path of conversion rules.
func ParsePath(text string) ([]syntax.Segment, error) {
	p, err := syntax.ParsePath(text)
	if err != nil {
		err = fmt.Errorf("path that cannot be read: %w: %s", err, text)
	}
	return p.Segments, err
}

// RemoveAll removes what a path leads to from an object, wherever it is in lists and maps, if goes
// reports true for it.
func RemoveAll(v any, path []syntax.Segment, goes func(value any) bool) {
	if len(path) == 0 {
		return
	}
	s, rest := path[0], path[1:]
	ofMap := s.Kind == syntax.Values || s.Kind == syntax.KeyedValues
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			switch {
			case !ofMap && (s.Kind != syntax.Field || s.Name != name):
			case len(rest) == 0 && goes(value):
				delete(v, name)
			default:
				RemoveAll(value, rest, goes)
			}
		}
	case []any:
		for i, value := range v {
			switch {
			case ofMap || s.Kind == syntax.Field:
			case len(rest) == 0 && goes(value):
				v[i] = nil
			default:
				RemoveAll(value, rest, goes)
			}
		}
	}
}

// HasAny reports whether an object has something at a path of rules, in any element or entry.
func HasAny(v any, path []syntax.Segment) bool {
	if len(path) == 0 {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if path[0].Kind == syntax.Field {
			value, found := v[path[0].Name]
			return found && HasAny(value, path[1:])
		}
		for _, value := range v {
			if HasAny(value, path[1:]) {
				return true
			}
		}
	case []any:
		return path[0].Kind != syntax.Field && slices.ContainsFunc(v, func(e any) bool { return HasAny(e, path[1:]) })
	}
	return false
}
