package transform_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

func stringsOf(n int) string { return `["` + strings.Repeat(`x","`, n-1) + `x"]` }

func TestAnExpressionThatCostsTooMuchFails(t *testing.T) {
	t.Parallel()
	compiled := mustCompile(t, newEnv(t, nil), schemas{"l: {type: array, maxItems: 50, items: {type: string}}", "b: {type: integer}"},
		`{spoke: .spec.l, hub: .spec.b, toHub: 'self.map(a, self.map(b, self.map(c, 1).sum()).sum()).sum()', toSpoke: '[""]'}`)
	if got := run(t, compiled, false, "", stringsOf(10), 1); got != "1000" {
		t.Error("ten elements:", got)
	}
	call := &transform.Call{Context: t.Context()}
	in := operands(t, stringsOf(80))
	out := make([]transform.Operand, 1)
	limits := map[string]int{}
	for i := range 12 {
		err := compiled[0].Run(call, in, out)
		if err == nil || out[0].Present {
			t.Fatalf("80 elements: %v", out)
		}
		limits[err.Error()]++
		if !call.CallLimit() || call.TotalLimit() != (i >= 10) {
			t.Errorf("after %d expressions: limits are %v, %v", i+1, call.CallLimit(), call.TotalLimit())
		}
	}
	if limits["the expression costs more than 1000000 units"] != 10 || limits["the expressions for one object cost more than 10000000 units"] != 2 {
		t.Errorf("errors are %v", limits)
	}
	next := &transform.Call{Context: t.Context()}
	if err := compiled[0].Run(next, operands(t, stringsOf(3)), out); err != nil || next.CallLimit() || next.TotalLimit() {
		t.Errorf("the next object: %v, limits are %v, %v", err, next.CallLimit(), next.TotalLimit())
	}
	next.Mute = true
	if err := compiled[0].Run(next, operands(t, stringsOf(3)), out); err == nil || out[0].Present {
		t.Errorf("an expression that is mute gives %v, %v", out, err)
	}
}

func TestAContextThatIsDoneStopsAnExpression(t *testing.T) {
	t.Parallel()
	compiled := mustCompile(t, newEnv(t, nil), schemas{"l: {type: array, items: {type: string}}", "b: {type: integer}"},
		`{spoke: .spec.l, hub: .spec.b, toHub: 'self.map(a, size(self.filter(b, a == b))).sum()', toSpoke: '[""]'}`)
	ctx, cancel := context.WithCancel(t.Context())
	call := &transform.Call{Context: ctx}
	cancel()
	out := make([]transform.Operand, 1)
	err := compiled[0].Run(call, operands(t, stringsOf(200)), out)
	if !errors.Is(err, context.Canceled) || out[0].Present {
		t.Errorf("got %v, %v", err, out)
	}
}

func TestAResultHasAtMostOneMiB(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	compiled := mustCompile(t, env, schemas{"a: {type: string}", "b: {type: string}\nc: {type: string}"},
		`{spoke: .spec.a, hub: {b: .spec.b, c: .spec.c}, toHub: '{"b": self, "c": self}', toSpoke: self.b}`)
	const want = "error: the result is too large"
	half := `"` + strings.Repeat("x", 1<<19) + `"`
	if got := run(t, compiled, false, "", half, 2); got != want {
		t.Errorf("got %.100s", got)
	}
	if got := run(t, compiled, false, "", half[:1<<18]+`"`, 2); strings.HasPrefix(got, "error") {
		t.Errorf("got %.100s", got)
	}
}

func TestTheObjectIsAskedForOnceAndOnlyWhenItIsRead(t *testing.T) {
	t.Parallel()
	compiled := mustCompile(t, newEnv(t, nil), schemas{"a: {type: string}", "b: {type: string}"},
		`{spoke: .spec.a, hub: .spec.b, toHub: 'self == "" ? object.spec.a + object.spec.a + metadata.name : self', toSpoke: self}`)
	from := &counted{source: `{"metadata":{"name":"n"},"spec":{"a":"x"}}`}
	call := &transform.Call{Context: t.Context(), Source: from}
	out := make([]transform.Operand, 1)
	for _, step := range []struct {
		in, want string
		asked    int
	}{{`"y"`, `"y"`, 0}, {`""`, `"xxn"`, 1}, {`""`, `"xxn"`, 1}} {
		if err := compiled[0].Run(call, operands(t, step.in), out); err != nil {
			t.Fatal(err)
		}
		if got := show(out); got != step.want || from.objects != step.asked || from.metadata != step.asked {
			t.Errorf("%s is %s, asked %d and %d times, want %s and %d", step.in, got, from.objects, from.metadata, step.want, step.asked)
		}
	}
	if err := compiled[0].Run(&transform.Call{Context: t.Context()}, operands(t, `""`), out); err == nil {
		t.Error("no error without an object")
	}
}

func TestGuards(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	s := schemas{"a: {type: string}\nkind: {type: string}", "b: {type: string}\nc: {type: integer}"}
	field, hub := s.parse(t)
	rule := parseRule(t, `{spoke: .spec.a, hub: {b: .spec.b, c: .spec.c}, toHub: '{"b": self}', toSpoke: 'self.b', `+
		`whenToHub: 'object.spec.kind == "A" && self != "no"', whenToSpoke: 'has(self.c)'}`)
	when, findings := transform.CompileGuard(env, rule, false, places(field, rule.Spoke), field, nil)
	if len(findings) > 0 {
		t.Fatal(render(findings))
	}
	whenToSpoke, findings := transform.CompileGuard(env, rule, true, places(hub, rule.Hub), hub, nil)
	if len(findings) > 0 {
		t.Fatal(render(findings))
	}
	for _, tt := range []struct {
		name, object, in string
		guard            *transform.Guard
		want, fails      bool
	}{
		{"when holds", `{"spec":{"kind":"A"}}`, `"yes"`, when, true, false},
		{"when does not", `{"spec":{"kind":"B"}}`, `"yes"`, when, false, false},
		{"when fails", `{"spec":{}}`, `"yes"`, when, false, true},
		{"when for an absent value", `{"spec":{"kind":"A"}}`, `-`, when, false, true},
		{"when that does not look at the absent value", `{"spec":{"kind":"B"}}`, `-`, when, false, false},
		{"whenToSpoke holds", `{}`, `- | 1`, whenToSpoke, true, false},
		{"whenToSpoke does not", `{}`, `"x" | -`, whenToSpoke, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			call := &transform.Call{Context: t.Context(), Source: source(tt.object)}
			got, err := tt.guard.Holds(call, operands(t, tt.in))
			if got != tt.want || err != nil != tt.fails {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	if none, findings := transform.CompileGuard(env, parseRule(t, "{spoke: .spec.a, hub: .spec.b}"), false, nil, field, nil); none != nil || findings != nil {
		t.Error("a guard of a rule that has none")
	}
}

func TestFindingsOfGuards(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	field, _ := schemas{"a: {type: string}", "b: {type: string}"}.parse(t)
	rule := parseRule(t, "{spoke: .spec.a, hub: .spec.b, whenToHub: self}")
	guard, findings := transform.CompileGuard(env, rule, false, places(field, rule.Spoke), field, nil)
	want := "9:49 expression-result: rule 1: whenToHub gives string, and a guard is true or false (compare it with something)"
	if got := render(findings); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if holds, err := guard.Holds(&transform.Call{Context: t.Context()}, operands(t, `"x"`)); holds || err == nil {
		t.Error("it holds")
	}
}

func TestGoFunctions(t *testing.T) {
	t.Parallel()
	env := newEnv(t, map[string]transform.GoFunc{
		"split": {
			ToHub: func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) {
				first, rest, found := strings.Cut(jsondoc.Unquote(in[0]), " ")
				if !found {
					return nil, errors.New("a secret: " + first)
				}
				return []json.RawMessage{[]byte(`"` + first + `"`), []byte(`"` + rest + `"`)}, nil
			},
			ToSpoke: func(context.Context, []json.RawMessage) ([]json.RawMessage, error) {
				return make([]json.RawMessage, 3), nil
			},
		},
	})
	compiled := mustCompile(t, env, schemas{"a: {type: string}", "b: {type: string}\nc: {type: string, enum: [\"y\"]}"},
		"{spoke: .spec.a, hub: {b: .spec.b, c: .spec.c}, go: split}")
	for in, want := range map[string]string{
		`"x y"`: `"x" | "y"`,
		`"x z"`: "error: the result is not a value that the schema allows",
		`"x"`:   "error: a registered function cannot convert the values",
		`-`:     `- | -`,
	} {
		if got := run(t, compiled, false, "", in, 2); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
	if got := run(t, compiled, true, "", `"x" | -`, 1); got != "error: a registered function gave another number of values than the rule has paths" {
		t.Error(got)
	}
	if claims(compiled) != "it/it" {
		t.Error("it claims", claims(compiled))
	}
}

func TestTransformsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	compiled := mustCompile(t, env, schemas{"a: {type: string}", "b: {type: string}"},
		`{spoke: .spec.a, hub: .spec.b, toHub: 'self + object.spec.a + [1, 2].map(x, string(x)).join(",")', toSpoke: self}`)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				if got := run(t, compiled, false, `{"spec":{"a":"y"}}`, `"x"`, 1); got != `"xy1,2"` {
					t.Error(got)
				}
			}
		})
	}
	group.Go(func() {
		for range 5 {
			compile(t, env, schemas{"a: {type: string}", "b: {type: string}"}, "{spoke: .spec.a, hub: .spec.b, toHub: self, toSpoke: self.x}")
		}
	})
	group.Wait()
}

// A counted is a source that counts how often its texts are read.
type counted struct {
	source

	objects, metadata int
}

func (c *counted) Object() []byte {
	c.objects++
	return c.source.Object()
}

func (c *counted) Metadata() *jsondoc.Node {
	c.metadata++
	return c.source.Metadata()
}

// Metadata is empty if the object has none.
func TestMetadata(t *testing.T) {
	t.Parallel()
	compiled := mustCompile(t, newEnv(t, nil), schemas{"a: {type: string}", "b: {type: string}"},
		`{spoke: .spec.a, hub: .spec.b, toHub: 'self + metadata.?name.orValue("?") + string(has(metadata.annotations))', toSpoke: self}`)
	for object, want := range map[string]string{
		`{"metadata":{"name":"n","annotations":{"a":"b"}}}`: `"xntrue"`,
		`{"metadata":{"name":"n"}}`:                         `"xnfalse"`,
		`{"metadata":null}`:                                 `"x?false"`,
		`{}`:                                                `"x?false"`,
	} {
		t.Run(object, func(t *testing.T) {
			t.Parallel()
			call, out := &transform.Call{Context: t.Context(), Source: source(object)}, make([]transform.Operand, 1)
			for range 2 { // the second time it is known
				if err := compiled[0].Run(call, operands(t, `"x"`), out); err != nil || show(out) != want {
					t.Errorf("got %s, %v, want %s", show(out), err, want)
				}
			}
		})
	}
}
