package transform

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A Read is a place of the source object that an expression reads through `object` or `metadata`, beside the rule's own
// places, which are `self`. It is the value there with all that is below it, or only whether there is one.
//
// A path that goes through [] or {} is of each element or entry, and so reads how many there are, in which order, and under
// which keys. A presence at the end of such a path is just that. Any read also reads whether the places above it are there.
type Read struct {
	Path     []syntax.Segment // from the root of the object; empty: all of it
	Presence bool             // only whether there is a value
}

// String writes a read as `.spec.type`, or as `has(.spec.type)`.
func (r Read) String() string {
	text := syntax.Path{Segments: r.Path}.String()
	if text == "" {
		text = "."
	}
	if r.Presence {
		return "has(" + text + ")"
	}
	return text
}

// covers reports whether the read includes another one.
func (r Read) covers(other Read) bool {
	n := len(r.Path)
	if n > len(other.Path) || !slices.EqualFunc(r.Path, other.Path[:n], includes) {
		return false
	}
	return !r.Presence || n == len(other.Path) && other.Presence
}

// includes reports whether the places behind a segment include those behind another one.
func includes(a, b syntax.Segment) bool {
	return a.Equal(b) || a.Kind == syntax.Elements && b.Kind == syntax.First
}

// needless reports whether a read is only of what another one says, too.
func needless(r Read, all []Read) bool {
	return r.Presence && len(r.Path) == 0 || slices.ContainsFunc(all, func(other Read) bool {
		n, above := len(r.Path), r.Presence && len(other.Path) > len(r.Path)
		return other.covers(r) && !r.covers(other) || above && slices.EqualFunc(r.Path, other.Path[:n], syntax.Segment.Equal)
	})
}

// tidied returns reads without those that others include, in the order of their texts.
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
	t := &tracer{ast: e.ast.NativeRep(), root: e.from.root}
	t.use(t.trace(t.ast.Expr()))
	return tidied(t.reads)
}

// A tracer finds what an expression reads by going through it without values: of each part it knows which places of the
// object its value may be. A place counts as read where its value is used, and as asked for its presence where it is only
// looked up. So `object.spec.l.filter(e, e.on).map(e, e.name)` reads two fields of the elements. What it does not know, it takes
// to read everything that it is given.
type tracer struct {
	ast   *ast.AST
	root  *crdschema.Node
	vars  []variable
	reads []Read
	steps int
}

// A variable is one of a comprehension.
type variable struct {
	name  string
	value *traced
}

// maxSteps bounds the parts that a tracer looks at; comprehensions within comprehensions are looked at many times.
const maxSteps = 1 << 15

// trace returns what the value of an expression is made of, and notes what evaluating it reads.
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

// everything is what an expression reads of which nothing is known.
func (t *tracer) everything() *traced {
	t.reads = append(t.reads, Read{})
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
		return t.lookedUp(traced{places: []place{{node: t.root}}})
	case "metadata":
		return t.lookedUp(traced{places: []place{place{}.field("metadata", t.root)}})
	}
	if t.ast.GetType(e.ID()).Kind() == types.TypeKind {
		return nil // the name of a type
	}
	return t.everything()
}

// lookedUp notes that the presence of places is read.
func (t *tracer) lookedUp(v traced) *traced {
	for _, p := range v.places {
		t.reads = append(t.reads, Read{Path: p.path, Presence: true})
	}
	return &v
}

// use notes that a value is read, with all that is in it.
func (t *tracer) use(v *traced) {
	for ; v != nil; v = v.inside {
		for _, p := range v.places {
			path := p.path
			for len(path) > 0 && path[len(path)-1].Iterates() {
				path = path[:len(path)-1] // all elements of a list are the list
			}
			t.reads = append(t.reads, Read{Path: path})
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

// member returns a member of a value, which is looked up.
func (t *tracer) member(v *traced, name string) *traced {
	if v == nil {
		return nil
	}
	var found traced
	for _, p := range v.places {
		found.places = append(found.places, p.fields(name)...)
	}
	return v.inside.or(t.lookedUp(found))
}

// elements returns the elements of a list or the values of a map, all of which are looked up; nothing of a value of which
// it is not known which of both it is: that is read.
func (t *tracer) elements(v *traced, of *cel.Type) *traced {
	if v == nil {
		return nil
	}
	var found traced
	for _, p := range v.places {
		switch optionalOf(of).Kind() {
		case types.ListKind:
			found.places = append(found.places, p.step(syntax.Segment{Kind: syntax.Elements}, p.node.Items()))
		case types.MapKind:
			found.places = append(found.places, p.step(syntax.Segment{Kind: syntax.Values}, p.node.Values()))
		default:
			t.use(&traced{places: []place{p}})
		}
	}
	return v.inside.or(t.lookedUp(found))
}

func (t *tracer) typeOf(e ast.Expr) *cel.Type { return t.ast.GetType(e.ID()) }

// comprehension goes through the loop until it knows all that the accumulator may be.
func (t *tracer) comprehension(c ast.ComprehensionExpr) *traced {
	over := t.typeOf(c.IterRange())
	element := t.elements(t.trace(c.IterRange()), over)
	key := (*traced)(nil) // an index, or the key of an entry, is looked up already
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
