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
	return crdschema.Fit{Demands: hasEnum, Meets: inEnum}.Value(n, text)
}

// IsComplete is Admits for a value that must have what the schema requires.
func IsComplete(n *crdschema.Node, text []byte) bool {
	return crdschema.Fit{Complete: true, Demands: hasEnum, Meets: inEnum}.Value(n, text)
}

func hasEnum(n *crdschema.Node) bool { return len(n.Enum()) > 0 }

// ofType is Admits without the enum of the place itself.
func ofType(n *crdschema.Node, text []byte) bool {
	return crdschema.Fit{Demands: func(m *crdschema.Node) bool { return m != n && hasEnum(m) }, Meets: inEnum}.Value(n, text)
}

// AdmitsString is Admits for a string.
func AdmitsString(n *crdschema.Node, value string) bool {
	return Admits(n, jsondoc.StringValue(value).Text())
}

func inEnum(n *crdschema.Node, text []byte) bool {
	const few = 16 // comparing these is faster than making a key
	enum := n.Enum()
	if len(enum) <= few && slices.Contains(enum, string(text)) {
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
