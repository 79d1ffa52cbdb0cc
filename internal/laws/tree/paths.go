package tree

import (
	"fmt"

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
	below := func(value any, remove func()) {
		if len(rest) == 0 && goes(value) {
			remove()
			return
		}
		RemoveAll(value, rest, goes)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if ofMap || s.Kind == syntax.Field && s.Name == name {
				below(value, func() { delete(v, name) })
			}
		}
	case []any:
		for i, value := range v {
			if !ofMap && s.Kind != syntax.Field {
				below(value, func() { v[i] = nil })
			}
		}
	}
}
