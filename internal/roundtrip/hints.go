package roundtrip

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Hints are values that a generator should try at a place of a version, besides those that it makes up: JSON texts by path,
// as conversion rules write paths. A rule's enum values of either side, strings with a template's separators, strings that
// nearly match: whatever the schema does not tell. Those that do not fit the schema of the place are ignored, and so are
// places that it does not have; [name=x] is also a hint for name.
type Hints map[string][]string

// hintTable is hints by node. It is not changed once it is made.
type hintTable struct {
	values map[*crdschema.Node][]any
	// names are of entries of maps and of unknown fields.
	names map[*crdschema.Node][]namedHint
}

type namedHint struct {
	name   string
	values []any
}

func newHintTable(v *crdschema.Version, hints Hints) (*hintTable, error) {
	t := &hintTable{map[*crdschema.Node][]any{}, map[*crdschema.Node][]namedHint{}}
	var problems []error
	for _, path := range slices.Sorted(maps.Keys(hints)) {
		p, err := parsePlace(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		t.addKeys(v.Root, p)
		values := make([]any, 0, len(hints[path]))
		for _, text := range hints[path] {
			var value any
			if err := utiljson.Unmarshal([]byte(text), &value); err != nil {
				problems = append(problems, fmt.Errorf("hint that is not JSON: %s: %w", path, err))
				continue
			}
			values = append(values, value)
		}
		t.add(v.Root, p, values)
	}
	return t, errors.Join(problems...)
}

func (t *hintTable) add(root *crdschema.Node, p place, values []any) {
	at, name, below := p.node(root)
	if name != "" {
		values = slices.DeleteFunc(values, func(v any) bool { return below != nil && !fits(below, v) })
		t.names[at] = append(t.names[at], namedHint{name, values})
		return
	}
	for _, value := range values {
		if at != nil && fits(at, value) {
			t.values[at] = append(t.values[at], value)
		}
	}
}

// addKeys makes a hint of each [name=x].
func (t *hintTable) addKeys(root *crdschema.Node, p place) {
	for i, s := range p {
		if s.value != "" {
			key := append(slices.Clone(p[:i+1]), step{kind: fieldStep, name: s.name})
			var value any = s.value
			if n, _, _ := key.node(root); n.Kind() == crdschema.Integer {
				number, err := strconv.ParseInt(s.value, 10, 64)
				if err != nil {
					continue
				}
				value = number
			}
			t.add(root, key, []any{value})
		}
	}
}

// fits reports whether a value is of the kind of a place, and of its enum, pattern and length.
func fits(n *crdschema.Node, value any) bool {
	if value == nil {
		return n.Nullable()
	}
	if enum := n.Enum(); enum != nil && !slices.Contains(enum, string(encode(value))) {
		return false
	}
	switch v := value.(type) {
	case string:
		return isOf(n, crdschema.String, crdschema.IntOrString) && stringFits(n, v)
	case int64:
		return isOf(n, crdschema.Integer, crdschema.Number, crdschema.IntOrString)
	case float64:
		return isOf(n, crdschema.Number)
	case bool:
		return isOf(n, crdschema.Boolean)
	case []any:
		return isOf(n, crdschema.Array)
	default:
		return isOf(n, crdschema.Object, crdschema.Map)
	}
}

func isOf(n *crdschema.Node, kinds ...crdschema.Kind) bool {
	return n.Kind() == crdschema.Any || slices.Contains(kinds, n.Kind())
}

func stringFits(n *crdschema.Node, s string) bool {
	limits := n.Structural().ValueValidation
	if limits == nil {
		return true
	}
	if length := int64(utf8.RuneCountInString(s)); limits.MinLength != nil && length < *limits.MinLength ||
		limits.MaxLength != nil && length > *limits.MaxLength {
		return false
	}
	if limits.Pattern == "" {
		return true
	}
	pattern, err := regexp.Compile(limits.Pattern)
	return err != nil || pattern.MatchString(s)
}
