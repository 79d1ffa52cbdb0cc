package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Admits reports whether a schema allows a value, given as valid JSON text: its type, its enum,
// null only if it is nullable, and no fields that the API server would prune. It ignores bounds and
// patterns, which the API server checks. A nil node allows any value. When members share a name,
// the last one wins.
func Admits(n *crdschema.Node, text []byte) bool {
	if n == nil {
		return true
	}
	if len(text) == 0 {
		return false
	}
	if text[0] == 'n' {
		return n.Nullable()
	}
	return ofKind(n, text) && inEnum(n, text)
}

// AdmitsString is Admits for a string.
func AdmitsString(n *crdschema.Node, value string) bool {
	return Admits(n, jsondoc.StringValue(value).Text())
}

func ofKind(n *crdschema.Node, text []byte) bool {
	if text[0] == '{' || text[0] == '[' {
		return partsFitText(n, text) == nil || partsFitText(n, jsondoc.LastOfEach(text)) == nil
	}
	switch n.Kind() {
	case crdschema.None, crdschema.Any:
		return true
	case crdschema.String:
		return text[0] == '"'
	case crdschema.Integer:
		return jsondoc.IsInteger(text)
	case crdschema.Number:
		return jsondoc.IsNumber(text)
	case crdschema.Boolean:
		return text[0] == 't' || text[0] == 'f'
	case crdschema.IntOrString:
		return text[0] == '"' || jsondoc.IsInteger(text)
	case crdschema.Object, crdschema.Map, crdschema.Array:
	}
	return false
}

func partsFitText(n *crdschema.Node, text []byte) error {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	return partsFit(n, &s)
}

// partsFit checks an object or a list, with one scan for all levels (BenchmarkKinds in package
// rules).
func partsFit(n *crdschema.Node, s *jsondoc.Scanner) error {
	isMap := s.Kind() == jsondoc.Map
	switch kind := n.Kind(); {
	case isMap && kind == crdschema.Map:
		return s.Members(func([]byte) error { return valueFits(n.Values(), s) })
	case isMap && (kind == crdschema.Object || kind == crdschema.Any):
		return s.Members(func(name []byte) error {
			member := n.PropertyNamed(name)
			if member == nil && !n.PreservesUnknown() {
				return errUnfit
			}
			return valueFits(member, s)
		})
	case !isMap && kind == crdschema.Array:
		return s.Elements(func() error { return valueFits(n.Items(), s) })
	case kind != crdschema.None && kind != crdschema.Any:
		return errUnfit
	}
	_, err := s.Skip()
	return err
}

func valueFits(n *crdschema.Node, s *jsondoc.Scanner) error {
	if kind := s.Kind(); n != nil && len(n.Enum()) == 0 && (kind == jsondoc.Map || kind == jsondoc.Array) {
		return partsFit(n, s)
	}
	at, err := s.Skip()
	if err == nil && !Admits(n, s.Text(at)) {
		err = errUnfit
	}
	return err
}

func inEnum(n *crdschema.Node, text []byte) bool {
	const few = 16 // comparing these is faster than making a key
	enum := n.Enum()
	if len(enum) == 0 || len(enum) <= few && slices.Contains(enum, string(text)) {
		return true
	}
	return n.EnumHas(valueKey(text), valueKey)
}

// Covers reports whether target admits every value that source admits (see [Admits]).
func Covers(target, source *crdschema.Node) bool {
	switch {
	case target == nil || target == source:
		return true
	case source.Nullable() && !target.Nullable():
		return false
	}
	if enum := source.Enum(); len(enum) > 0 {
		return !slices.ContainsFunc(enum, func(value string) bool { return !Admits(target, []byte(value)) })
	}
	return len(target.Enum()) == 0 && kindCovers(target, source)
}

func kindCovers(target, source *crdschema.Node) bool {
	from := source.Kind()
	switch target.Kind() {
	case crdschema.Object:
		return from == crdschema.Object && membersCover(target, source)
	case crdschema.Map:
		covers := from == crdschema.Map && Covers(target.Values(), source.Values())
		return covers || from == crdschema.Object && eachCovered(target, source)
	case crdschema.Array:
		return from == crdschema.Array && Covers(target.Items(), source.Items())
	case crdschema.Number:
		return from == crdschema.Number || from == crdschema.Integer
	case crdschema.IntOrString:
		return from == crdschema.IntOrString || from == crdschema.Integer || from == crdschema.String
	case crdschema.Any:
		return from != crdschema.None && (from != crdschema.Any && from != crdschema.Object && from != crdschema.Map ||
			membersCover(target, source))
	case crdschema.None:
		return true
	case crdschema.String, crdschema.Integer, crdschema.Boolean:
	}
	return from == target.Kind()
}

// membersCover compares objects member by member.
func membersCover(target, source *crdschema.Node) bool {
	if (source.PreservesUnknown() || source.Kind() == crdschema.Map) && !target.PreservesUnknown() {
		return false
	}
	for _, name := range source.Properties() {
		member := target.Property(name)
		if member == nil && !target.PreservesUnknown() || !Covers(member, source.Property(name)) {
			return false
		}
	}
	return true
}

func eachCovered(target, source *crdschema.Node) bool {
	if source.PreservesUnknown() {
		return false
	}
	return !slices.ContainsFunc(source.Properties(), func(name string) bool {
		return !Covers(target.Values(), source.Property(name))
	})
}
