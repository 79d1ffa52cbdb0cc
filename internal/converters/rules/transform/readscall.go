package transform

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// call traces the call of a function, which reads its arguments unless handedOn knows better.
func (t *tracer) call(e ast.Expr) *traced {
	call := e.AsCall()
	args := call.Args()
	if call.IsMemberFunction() {
		args = append([]ast.Expr{call.Target()}, args...)
	}
	values := make([]*traced, len(args))
	for i, arg := range args {
		values[i] = t.trace(arg)
	}
	if traced, known := t.handedOn(e, call.FunctionName(), args, values); known {
		return traced
	}
	for _, v := range values {
		t.use(v)
	}
	return nil
}

// handedOn traces a function that hands on its arguments or parts of them.
func (t *tracer) handedOn(e ast.Expr, function string, args []ast.Expr, values []*traced) (v *traced, known bool) {
	optional := len(args) > 0 && t.typeOf(args[0]).TypeName() == "optional_type"
	kind := t.typeOf(e).Kind()
	switch {
	case function == operators.Conditional && len(args) == 3:
		t.use(values[0])
		return values[1].or(values[2]), true
	case (function == operators.Index || function == operators.OptIndex) && len(args) == 2:
		return t.index(args, values), true
	case function == operators.OptSelect && len(args) == 2:
		if name, ok := stringOf(args[1]); ok {
			return t.member(values[0], name), true
		}
	case function == operators.In && len(args) == 2 && t.typeOf(args[1]).Kind() == types.MapKind:
		if name, ok := stringOf(args[0]); ok {
			t.member(values[1], name)
			return nil, true
		}
		t.use(values[0])
		t.elements(values[1], t.typeOf(args[1]))
		return nil, true
	case function == "size" && len(args) == 1 && (t.typeOf(args[0]).Kind() == types.MapKind || t.typeOf(args[0]).Kind() == types.ListKind):
		t.elements(values[0], t.typeOf(args[0]))
		return nil, true
	case function == operators.Add && len(args) == 2 && kind == types.ListKind:
		return &traced{inside: t.elements(values[0], t.typeOf(e)).or(t.elements(values[1], t.typeOf(e)))}, true
	case function == "cel.@mapInsert" && len(args) == 2:
		return &traced{inside: t.elements(values[0], t.typeOf(args[0])).or(t.elements(values[1], t.typeOf(args[1])))}, true
	case function == "cel.@mapInsert" && len(args) == 3:
		t.use(values[1])
		return &traced{inside: t.elements(values[0], t.typeOf(args[0])).or(values[2])}, true
	case (function == "dyn" || function == "optional.of") && len(args) == 1,
		function == "value" && len(args) == 1 && optional,
		function == operators.NotStrictlyFalse && len(args) == 1:
		return values[0], true
	case function == "hasValue" && len(args) == 1 && optional, function == "optional.none" && len(args) == 0:
		return nil, true
	case (function == "or" || function == "orValue") && len(args) == 2 && optional:
		return values[0].or(values[1]), true
	}
	return nil, false
}

// index traces m["k"] and l[0]. An index that is known only at run time may be any element.
func (t *tracer) index(args []ast.Expr, values []*traced) *traced {
	if name, ok := stringOf(args[1]); ok {
		return t.member(values[0], name)
	}
	t.use(values[1])
	if values[0] == nil {
		return nil
	}
	if args[1].Kind() != ast.LiteralKind || args[1].AsLiteral() != types.IntZero {
		return t.elements(values[0], t.typeOf(args[0]))
	}
	var first traced
	for _, p := range values[0].origins {
		first.origins = append(first.origins, p.step(syntax.Segment{Kind: syntax.First}, p.node.Items()))
	}
	return values[0].inside.or(t.lookedUp(first))
}

// An origin is a path of the object, or of the element, from which an expression has a value, and
// its schema.
type origin struct {
	path    []syntax.Segment
	node    *crdschema.Node
	element bool
}

func (p origin) step(s syntax.Segment, below *crdschema.Node) origin {
	return origin{append(slices.Clip(p.path), s), below, p.element}
}

func (p origin) field(name string, of *crdschema.Node) origin {
	below := of.Property(name)
	if below == nil {
		below = of.Values()
	}
	return p.step(syntax.Segment{Kind: syntax.Field, Name: name}, below)
}

// fields returns the members that a name in an expression may mean (see celvalue.FieldName).
func (p origin) fields(name string) []origin {
	plain, known := celvalue.FieldName(p.node, name)
	switch {
	case !known || plain == name:
		return []origin{p.field(name, p.node)}
	case p.node.PreservesUnknown():
		return []origin{p.field(name, p.node), p.field(plain, p.node)}
	}
	return []origin{p.field(plain, p.node)}
}

// A traced is the value of a part of an expression: it comes from one of the origins, or is a list
// or map that the expression makes of the values inside. It is nil if all that it depends on counts
// as read already, such as a text or a condition.
type traced struct {
	origins []origin
	inside  *traced
}

// or returns a value that may be either.
func (v *traced) or(w *traced) *traced {
	switch {
	case v == nil:
		return w
	case w == nil:
		return v
	}
	both := &traced{origins: slices.Clip(v.origins), inside: v.inside.or(w.inside)}
	for _, p := range w.origins {
		if !v.has(p) {
			both.origins = append(both.origins, p)
		}
	}
	return both
}

func (v *traced) has(p origin) bool {
	return v != nil && slices.ContainsFunc(v.origins, func(q origin) bool {
		return p.node == q.node && p.element == q.element && slices.EqualFunc(p.path, q.path, syntax.Segment.Equal)
	})
}

// same reports whether w adds nothing to v, which has all that w has.
func (v *traced) same(w *traced) bool {
	if v == nil || w == nil {
		return v.empty() && w.empty()
	}
	return len(v.origins) == len(w.origins) && v.inside.same(w.inside)
}

func (v *traced) empty() bool { return v == nil || len(v.origins) == 0 && v.inside.empty() }
