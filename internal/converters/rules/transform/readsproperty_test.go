//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package transform_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

//nolint:gochecknoglobals // a flag
var edits = flag.Int("edits", 100, "edits of random objects for each expression of the table, and made expressions; make laws takes 400")

// TestReadsAreAllThatIsRead checks Reads for each expression of the table: an edit of an object
// outside of its reads changes nothing.
func TestReadsAreAllThatIsRead(t *testing.T) {
	t.Parallel()
	l := newReadsLab(t)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a seed
	done := 0
	for _, text := range slices.Sorted(maps.Keys(readsTests())) {
		compiled := l.compile(t, text, "self", "out")
		if compiled == nil {
			t.Fatalf("%s does not compile", text)
		}
		for range *edits {
			if l.edit(t, compiled, random, text) {
				done++
			}
		}
	}
	if least := len(readsTests()) * *edits / 3; done < least {
		t.Errorf("%d edits, want %d at least", done, least)
	}
}

// FuzzReads is TestReadsAreAllThatIsRead for any expression.
func FuzzReads(f *testing.F) {
	for text := range readsTests() {
		f.Add(text, uint64(1))
	}
	l := newReadsLab(f)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if len(text) > 200 {
			return
		}
		compiled := l.compile(t, text, "self", "out")
		if compiled == nil {
			return
		}
		random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a seed
		const edits = 16
		for range edits {
			l.edit(t, compiled, random, text)
		}
	})
}

func newReadsLab(tb testing.TB) *lab {
	tb.Helper()
	root, _ := schemas{readable, readable}.parse(tb)
	return &lab{newEnv(tb, nil), root, nil}
}

// edit makes a random object, edits it at a place that is not read, if there is one, and compares
// the results of the expression.
func (l *lab) edit(t *testing.T, compiled *transform.Way, random *rand.Rand, text string) bool {
	t.Helper()
	g := generator{random}
	object := map[string]any{"kind": "Thing", "metadata": map[string]any{"name": "n", "labels": g.value(nil, 2)}}
	object["spec"] = g.value(l.root.Property("spec"), 0)
	before := marshal(t, object)
	at := g.change(object, l.root, nil, func(path []any, presence bool) bool {
		return !slices.ContainsFunc(compiled.Reads, func(r transform.Read) bool { return touches(path, presence, r) })
	})
	if at == nil {
		return false
	}
	after := marshal(t, object)
	self, err := jsondoc.RawValue([]byte(g.pick(`"k"`, `"x"`, `1`, `["a"]`, `{"a":"k"}`)))
	if err != nil {
		t.Fatal(err)
	}
	in := []transform.Operand{{Value: self, Present: true}}
	if a, b := forward(t, compiled, before, in), forward(t, compiled, after, in); a != b {
		t.Errorf("%s reads %s, and an edit at %v changes what it gives\nfrom %.300s\nto   %.300s\nof   %s\nand  %s",
			text, readsText(compiled.Reads), at, a, b, before, after)
	}
	return true
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// touches reports whether an edit at a path may change what a read reads. Presence says that the
// edit may add or remove the value.
func touches(at []any, presence bool, r transform.Read) bool {
	n := min(len(at), len(r.Path))
	for i := range n {
		if !stepsTo(r.Path[i], at[i]) {
			return false
		}
	}
	switch {
	case len(at) < len(r.Path):
		return true
	case len(at) == len(r.Path):
		return presence || !r.Presence
	}
	return !r.Presence
}

func stepsTo(s syntax.Segment, step any) bool {
	switch s.Kind {
	case syntax.Field:
		return step == s.Name
	case syntax.First:
		return step == 0
	default:
		return true
	}
}

// A generator makes random values of few texts, so that conditions meet both ways.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) value(n *crdschema.Node, depth int) any {
	const deepest = 5
	switch n.Kind() {
	case crdschema.Object:
		object := map[string]any{}
		for _, name := range n.Properties() {
			if g.IntN(5) > 0 {
				object[name] = g.value(n.Property(name), depth+1)
			}
		}
		if n.PreservesUnknown() {
			for range g.IntN(3) {
				object[g.name()] = g.value(nil, depth+1)
			}
		}
		return object
	case crdschema.Map:
		entries := map[string]any{}
		for range g.IntN(4) {
			entries[g.name()] = g.value(n.Values(), depth+1)
		}
		return entries
	case crdschema.Array:
		var elements []any
		for range g.IntN(4) {
			elements = append(elements, g.value(n.Items(), depth+1))
		}
		return append([]any{}, elements...)
	case crdschema.String:
		return g.pick("x", "y", "k", "")
	case crdschema.Integer:
		return g.IntN(3)
	case crdschema.Boolean:
		return g.IntN(2) == 0
	default:
	}
	if depth >= deepest || g.IntN(2) == 0 {
		return [...]any{"x", "y", 0, 1, true, nil}[g.IntN(6)]
	}
	if g.IntN(2) == 0 {
		return []any{g.value(nil, depth+1), g.value(nil, depth+1)}[:g.IntN(3)]
	}
	object := map[string]any{}
	for range g.IntN(4) {
		object[g.name()] = g.value(nil, depth+1)
	}
	return object
}

func (g generator) name() string { return g.pick("a", "b", "k", "x", "r", "l", "p") }

// change edits a value below at one random place that is allowed, and returns its path, or nil if
// it found none.
func (g generator) change(v any, n *crdschema.Node, at []any, allowed func(path []any, presence bool) bool) []any {
	switch v := v.(type) {
	case map[string]any:
		names := append(slices.Sorted(maps.Keys(v)), n.Properties()...)
		if n.Kind() != crdschema.Object || n.PreservesUnknown() {
			names = append(names, g.name())
		}
		g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			path := append(slices.Clip(at), name)
			below := n.Property(name)
			if n.Kind() == crdschema.Map {
				below = n.Values()
			}
			old, found := v[name]
			if list, is := old.([]any); is && g.IntN(3) == 0 {
				last := append(slices.Clip(path), max(0, len(list)-1))
				if len(list) > 0 && allowed(last, true) {
					v[name] = list[:len(list)-1]
					return last
				}
			}
			if found && g.IntN(2) == 0 {
				if done := g.change(old, below, path, allowed); done != nil {
					return done
				}
			}
			remove := found && g.IntN(3) == 0
			if len(path) < 2 || !allowed(path, remove || !found) {
				continue
			}
			if delete(v, name); !remove {
				v[name] = g.value(below, len(path))
			}
			return path
		}
	case []any:
		for _, i := range g.Perm(len(v)) {
			path := append(slices.Clip(at), i)
			if done := g.change(v[i], n.Items(), path, allowed); done != nil {
				return done
			}
			if allowed(path, false) {
				v[i] = g.value(n.Items(), len(path))
				return path
			}
		}
	}
	return nil
}

func TestTouches(t *testing.T) {
	t.Parallel()
	l := newReadsLab(t)
	for text, want := range map[string]string{
		`object.spec.lo.exists(e, e.kind == "x")`: "[spec] [spec lo] [spec lo 1] [spec lo 1 kind]",
		`object.spec.lo[0].kind`:                  "[spec] [spec lo]",
		`has(object.spec.s)`:                      "[spec]",
		`object.spec`:                             "[spec] [spec lo] [spec lo 1] [spec lo 1 kind] [spec s]",
	} {
		got := ""
		for _, path := range [][]any{{"spec"}, {"spec", "lo"}, {"spec", "lo", 1}, {"spec", "lo", 1, "kind"}, {"spec", "s"}} {
			if slices.ContainsFunc(l.compile(t, text, "self", "out").Reads, func(r transform.Read) bool { return touches(path, false, r) }) {
				got += fmt.Sprint(path) + " "
			}
		}
		if got != want+" " {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
