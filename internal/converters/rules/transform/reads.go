package transform

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Read is a path of the object with all that is below it, or only whether there is a value. An
// expression reads these through `object` or `metadata`; the rule's own values are `self`.
//
// A path through [] or {} is that of each element or entry, so it also reads their number, order
// and keys. Presence at the end of such a path reads just that. Any read includes the presence of
// what is above it.
type Read struct {
	Path     []syntax.Segment // from the root of the object; empty: all of it
	Presence bool             // only whether there is a value
	Element  bool             // the path is from what `element` is
}

// String writes a read as `.spec.type`, or as `has(.spec.type)`.
func (r Read) String() string {
	text := syntax.Path{Segments: r.Path}.String()
	if r.Element {
		text = "element" + text
	}
	if text == "" {
		text = "."
	}
	if r.Presence {
		return "has(" + text + ")"
	}
	return text
}

// covers reports whether the read includes another.
func (r Read) covers(other Read) bool {
	n := len(r.Path)
	if n > len(other.Path) || r.Element != other.Element || !slices.EqualFunc(r.Path, other.Path[:n], includes) {
		return false
	}
	return !r.Presence || n == len(other.Path) && other.Presence
}

// includes reports whether segment a leads to all that segment b leads to.
func includes(a, b syntax.Segment) bool {
	return a.Equal(b) || a.Kind == syntax.Elements && b.Kind == syntax.First
}

// needless reports whether others include the read.
func needless(r Read, all []Read) bool {
	return r.Presence && len(r.Path) == 0 || slices.ContainsFunc(all, func(other Read) bool {
		n, above := len(r.Path), r.Presence && len(other.Path) > len(r.Path)
		return other.covers(r) && !r.covers(other) || above && r.Element == other.Element && slices.EqualFunc(r.Path, other.Path[:n], syntax.Segment.Equal)
	})
}

// tidied returns the reads in the order of their texts, without those that others include.
func tidied(reads []Read) []Read {
	byText := func(a, b Read) int { return strings.Compare(a.String(), b.String()) }
	same := func(a, b Read) bool { return byText(a, b) == 0 }
	reads = slices.Clone(reads)
	slices.SortFunc(reads, byText)
	reads = slices.CompactFunc(reads, same)
	return slices.DeleteFunc(slices.Clone(reads), func(r Read) bool { return needless(r, reads) })
}

// reads returns what a checked expression reads.
func (e *expressionCompiler) reads() []Read {
	t := &tracer{ast: e.ast.NativeRep(), root: e.from.root, element: e.from.element}
	t.use(t.trace(t.ast.Expr()))
	return tidied(t.reads)
}

// A tracer finds what an expression reads without running it: for each part, it tracks which paths
// of the object the value may come from. Using a value reads it; looking it up reads only its
// presence. So `object.spec.l.filter(e, e.on).map(e, e.name)` reads two fields of the elements. A
// function that the tracer does not know reads all its arguments.
type tracer struct {
	ast     *ast.AST
	root    *crdschema.Node
	element *Element
	vars    []variable
	reads   []Read
	steps   int
}

// A variable belongs to a comprehension.
type variable struct {
	name  string
	value *traced
}

// maxSteps bounds the work of a tracer, which visits nested comprehensions many times.
const maxSteps = 1 << 15

// trace returns the origins of the value of an expression, and notes what evaluating it reads.
func (t *tracer) trace(e ast.Expr) *traced {
	if t.steps++; t.steps > maxSteps {
		return t.everything()
	}
	switch e.Kind() {
	case ast.LiteralKind:
		return nil
	case ast.IdentKind:
		return t.ident(e)
	case ast.SelectKind:
		return t.selection(e.AsSelect())
	case ast.CallKind:
		return t.call(e)
	case ast.ListKind:
		var inside *traced
		for _, element := range e.AsList().Elements() {
			inside = inside.or(t.trace(element))
		}
		return &traced{inside: inside}
	case ast.MapKind:
		var inside *traced
		for _, entry := range e.AsMap().Entries() {
			t.use(t.trace(entry.AsMapEntry().Key()))
			inside = inside.or(t.trace(entry.AsMapEntry().Value()))
		}
		return &traced{inside: inside}
	case ast.ComprehensionKind:
		return t.comprehension(e.AsComprehension())
	case ast.StructKind, ast.UnspecifiedExprKind:
	}
	return t.everything()
}

// everything notes that an expression may read the whole object and element.
func (t *tracer) everything() *traced {
	t.reads = append(t.reads, Read{})
	if t.element != nil {
		t.reads = append(t.reads, Read{Element: true})
	}
	return nil
}

func (t *tracer) ident(e ast.Expr) *traced {
	name := e.AsIdent()
	for _, v := range slices.Backward(t.vars) {
		if v.name == name {
			return v.value
		}
	}
	switch strings.TrimPrefix(name, ".") {
	case "self":
		return nil
	case "object":
		return t.lookedUp(traced{origins: []origin{{node: t.root}}})
	case "element":
		if t.element != nil {
			return t.lookedUp(traced{origins: []origin{{node: t.element.Node, element: true}}})
		}
	case "metadata":
		return t.lookedUp(traced{origins: []origin{origin{}.field("metadata", t.root)}})
	}
	if t.ast.GetType(e.ID()).Kind() == types.TypeKind {
		return nil // the name of a type
	}
	return t.everything()
}

// lookedUp notes that the presence of a value is read.
func (t *tracer) lookedUp(v traced) *traced {
	for _, p := range v.origins {
		t.reads = append(t.reads, Read{Path: p.path, Presence: true, Element: p.element})
	}
	return &v
}

// use notes that a value is read, with all that is below it.
func (t *tracer) use(v *traced) {
	for ; v != nil; v = v.inside {
		for _, p := range v.origins {
			path := p.path
			for len(path) > 0 && path[len(path)-1].Iterates() {
				path = path[:len(path)-1] // reading all elements is reading the list
			}
			t.reads = append(t.reads, Read{Path: path, Element: p.element})
		}
	}
}

func (t *tracer) selection(s ast.SelectExpr) *traced {
	found := t.member(t.trace(s.Operand()), s.FieldName())
	if s.IsTestOnly() {
		return nil
	}
	return found
}

// member looks up a member of a value.
func (t *tracer) member(v *traced, name string) *traced {
	if v == nil {
		return nil
	}
	var found traced
	for _, p := range v.origins {
		found.origins = append(found.origins, p.fields(name)...)
	}
	return v.inside.or(t.lookedUp(found))
}

// elements looks up the elements of a list or the values of a map. If the type is not known to be
// either, it reads the value.
func (t *tracer) elements(v *traced, of *cel.Type) *traced {
	if v == nil {
		return nil
	}
	var found traced
	for _, p := range v.origins {
		switch optionalOf(of).Kind() {
		case types.ListKind:
			found.origins = append(found.origins, p.step(syntax.Segment{Kind: syntax.Elements}, p.node.Items()))
		case types.MapKind:
			found.origins = append(found.origins, p.step(syntax.Segment{Kind: syntax.Values}, p.node.Values()))
		default:
			t.use(&traced{origins: []origin{p}})
		}
	}
	return v.inside.or(t.lookedUp(found))
}

func (t *tracer) typeOf(e ast.Expr) *cel.Type { return t.ast.GetType(e.ID()) }

// comprehension traces the loop until it knows all origins of the accumulator.
func (t *tracer) comprehension(c ast.ComprehensionExpr) *traced {
	over := t.typeOf(c.IterRange())
	element := t.elements(t.trace(c.IterRange()), over)
	key := (*traced)(nil) // looking up the elements reads their indices and keys
	if !c.HasIterVar2() && over.Kind() != types.MapKind {
		key = element
	}
	accumulated := t.trace(c.AccuInit())
	outside := len(t.vars)
	for round := 0; ; round++ {
		t.vars = append(t.vars[:outside], variable{c.AccuVar(), accumulated}, variable{c.IterVar(), key})
		if c.HasIterVar2() {
			t.vars = append(t.vars, variable{c.IterVar2(), element})
		}
		t.use(t.trace(c.LoopCondition()))
		more := accumulated.or(t.trace(c.LoopStep()))
		if more.same(accumulated) {
			break
		}
		const rounds = 4
		if accumulated = more; round == rounds {
			accumulated = t.everything()
			break
		}
	}
	t.vars = append(t.vars[:outside], variable{c.AccuVar(), accumulated})
	result := t.trace(c.Result())
	t.vars = t.vars[:outside]
	return result
}
