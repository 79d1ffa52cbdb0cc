package transform

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A resultChecker checks that the result of an expression fits the schema. It looks into literals
// and the branches of a condition, so that a finding points at the part that does not fit.
type resultChecker struct {
	*expressionCompiler
	ast *ast.AST
}

// checkResult reports what does not fit a side. It returns whether the expression always gives a
// value for every path of the side, and the constants among its results.
func (e *expressionCompiler) checkResult(to *side) (total bool, constants []Constant) {
	r := resultChecker{e, e.ast.NativeRep()}
	before := len(e.findings)
	if to.named() {
		r.named(r.ast.Expr(), to)
	} else {
		r.fits(r.ast.Expr(), to.node(), to.path(0))
	}
	if len(e.findings) > before {
		return false, nil
	}
	return r.total(r.ast.Expr(), to), r.constants(to)
}

// inside returns the expressions whose values an expression may have, as far as its form shows: the
// branches of a condition, the argument of dyn(), and none for optional.none().
func inside(e ast.Expr) []ast.Expr {
	if e.Kind() != ast.CallKind {
		return []ast.Expr{e}
	}
	switch call := e.AsCall(); call.FunctionName() {
	case operators.Conditional:
		return append(inside(call.Args()[1]), inside(call.Args()[2])...)
	case "optional.of", overloads.TypeConvertDyn:
		return inside(call.Args()[0])
	case "optional.none":
		return nil
	}
	return []ast.Expr{e}
}

// named checks a map of named values.
func (r resultChecker) named(e ast.Expr, to *side) {
	for _, e := range inside(e) {
		if e.Kind() != ast.MapKind {
			if kind := optionalOf(r.ast.GetType(e.ID())).Kind(); kind != types.MapKind && kind != types.DynKind {
				r.sayAt(e, "expression-result", `write {"`+to.names()[0]+`": ...}`, "gives %s, and %s has named paths: %s",
					cel.FormatCELType(r.ast.GetType(e.ID())), to.key, List(to.names()))
			}
			continue
		}
		for _, entry := range e.AsMap().Entries() {
			name, ok := stringOf(entry.AsMapEntry().Key())
			if !ok {
				continue
			}
			i := to.index(name)
			if i < 0 {
				r.sayAt(entry.AsMapEntry().Key(), "no-such-name", didyoumean.Hint(name, to.names(), "the names are "+List(to.names())),
					"gives a value for %q, which is not a path of %s", name, to.key)
				continue
			}
			r.fits(entry.AsMapEntry().Value(), to.nodes[i], to.path(i))
		}
	}
}

func stringOf(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	s, ok := e.AsLiteral().(types.String)
	return string(s), ok
}

// fits checks the value of an expression against the schema of a path.
func (r resultChecker) fits(e ast.Expr, node *crdschema.Node, path string) {
	for _, e := range inside(e) {
		switch {
		case node == nil || node.Kind() == crdschema.Any:
		case e.Kind() == ast.LiteralKind && r.literal(e, node, path):
		case e.Kind() == ast.ListKind && node.Kind() == crdschema.Array:
			for _, element := range e.AsList().Elements() {
				r.fits(element, node.Items(), path+"[]")
			}
		case e.Kind() == ast.MapKind && node.Kind() == crdschema.Object:
			r.members(e, node, path)
		case e.Kind() == ast.MapKind && node.Kind() == crdschema.Map:
			for _, entry := range e.AsMap().Entries() {
				r.fits(entry.AsMapEntry().Value(), node.Values(), path+"{}")
			}
		default:
			t := optionalOf(r.ast.GetType(e.ID()))
			if !typeFits(t, node) {
				r.sayAt(e, "expression-result", resultHint(t, node), "gives %s, and %s is %s", cel.FormatCELType(t), path, node.Kind())
			}
		}
	}
}

// literal checks a literal against an enum. It returns false if the literal has another type.
func (r resultChecker) literal(e ast.Expr, node *crdschema.Node, path string) bool {
	text, err := celvalue.AppendJSON(nil, e.AsLiteral(), maxResult)
	if err != nil || !ofKind(node, text) || text[0] == 'n' {
		return false
	}
	if !inEnum(node, text) {
		r.sayAt(e, "value-not-in-enum", didyoumean.Hint(string(text), node.Enum(), ""), "%s is not one of the values that the schema allows (%s): %s",
			text, List(node.Enum()), path)
	}
	return true
}

// members checks the fields of an object literal.
func (r resultChecker) members(e ast.Expr, node *crdschema.Node, path string) {
	for _, entry := range e.AsMap().Entries() {
		key := entry.AsMapEntry().Key()
		name, ok := stringOf(key)
		if !ok {
			continue
		}
		member := node.Property(name)
		if member == nil && !node.PreservesUnknown() {
			r.sayAt(key, "no-such-field", didyoumean.Hint(name, node.Properties(), ""), "%s has no field %q", path, name)
			continue
		}
		r.fits(entry.AsMapEntry().Value(), member, path+"."+name)
	}
}

// sayAt adds a finding about a part of the expression.
func (r resultChecker) sayAt(e ast.Expr, code, hint, format string, args ...any) {
	from, to := r.offsetsOf(e)
	r.sayText(r.text, from, to, code, hint, r.key+" "+format, args...)
}

// spanOf returns where a part of the expression is in the file.
func (r resultChecker) spanOf(e ast.Expr) (start syntax.Position, endColumn int) {
	return r.text.Span(r.offsetsOf(e))
}

// offsetsOf returns where a part of the expression starts and ends in its text.
func (r resultChecker) offsetsOf(e ast.Expr) (from, to int) {
	if e.ID() == r.ast.Expr().ID() { // CEL would give the position of the operator
		return 0, wordLength(r.text.Value)
	}
	at, found := r.ast.SourceInfo().GetOffsetRange(e.ID())
	if found {
		from = offsetOf(r.text.Value, r.ast.SourceInfo().GetStartLocation(e.ID()))
		if e.Kind() == ast.LiteralKind {
			to = from + int(at.Stop-at.Start)
		}
	}
	return from, max(to, from+wordLength(r.text.Value[from:]))
}

// optionalOf returns the type of an optional value, or the type itself.
func optionalOf(t *cel.Type) *cel.Type {
	if t.TypeName() == "optional_type" && len(t.Parameters()) == 1 {
		return t.Parameters()[0]
	}
	return t
}

// typeFits reports whether the schema may allow values of a type.
func typeFits(t *cel.Type, node *crdschema.Node) bool {
	if node == nil || node.Kind() == crdschema.Any {
		return hasJSON(t)
	}
	kind := node.Kind()
	switch t.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind, types.ErrorKind:
		return true
	case types.NullTypeKind:
		return node.Nullable()
	case types.BoolKind:
		return kind == crdschema.Boolean
	case types.StringKind:
		return kind == crdschema.String || kind == crdschema.IntOrString
	case types.IntKind, types.UintKind:
		return kind == crdschema.Integer || kind == crdschema.Number || kind == crdschema.IntOrString
	case types.DoubleKind:
		return kind == crdschema.Number
	case types.ListKind:
		return kind == crdschema.Array && typeFits(t.Parameters()[0], node.Items())
	case types.StructKind:
		return kind == crdschema.Object || kind == crdschema.Map
	case types.MapKind:
		key := t.Parameters()[0].Kind()
		return (key == types.StringKind || key == types.DynKind) &&
			(kind == crdschema.Object || kind == crdschema.Map && typeFits(t.Parameters()[1], node.Values()))
	default:
		return false
	}
}

// hasJSON reports whether values of a type can be written as JSON.
func hasJSON(t *cel.Type) bool {
	switch t.Kind() {
	case types.BytesKind, types.DurationKind, types.TimestampKind, types.TypeKind, types.OpaqueKind:
		return false
	default:
		return true
	}
}

func resultHint(t *cel.Type, node *crdschema.Node) string {
	switch kind := node.Kind(); {
	case kind == crdschema.String && (t.Kind() == types.ListKind || t.Kind() == types.MapKind || t.Kind() == types.StructKind):
		return "use codec: JSON or YAML, or put the parts together"
	case kind == crdschema.String:
		return "write string(...)"
	case kind == crdschema.Integer:
		return "write int(...)"
	case kind == crdschema.Number:
		return "write double(...)"
	case t.Kind() == types.NullTypeKind:
		return "for no value, write optional.none()"
	}
	return ""
}
