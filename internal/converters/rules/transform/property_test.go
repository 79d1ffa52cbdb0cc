package transform_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// randomly is the number of random values for each direction of each rule of the tables.
const randomly = 3000

// TestClaims checks Injective and Total for the rules of all tables on random values. Many nearly
// fit, and some the schema does not allow.
func TestClaims(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	for _, group := range [][]conversionTest{
		identityTests(), valuesTests(), templateTests(), scalarCodecTests(), textCodecTests(), expressionTests(), claimTests(),
	} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				field, hub := tt.schemas.parse(t)
				rule := parseRule(t, tt.rule)
				sides := [2][]*crdschema.Node{places(field, rule.Spoke), places(hub, rule.Hub)}
				compiled := mustCompile(t, env, tt.schemas, tt.rule)
				claimed := &claim{t: compiled, plain: isPlain(rule), object: tt.object, random: rand.New(rand.NewPCG(1, 2))} //nolint:gosec // a seed
				for _, backward := range []bool{false, true} {
					from, to := sides[0], sides[1]
					if backward {
						from, to = to, from
					}
					for range randomly {
						if problem := claimed.check(t, backward, from, to); problem != "" {
							t.Fatal(problem)
						}
					}
				}
			})
		}
	}
}

// claimTests are more rules, whose claims are easy to get wrong.
func claimTests() []conversionTest {
	template := func(name, parts, rest string) conversionTest {
		return conversionTest{
			name: name, schemas: schemas{"t: {type: string}", parts},
			rule: "{spoke: .spec.t, hub: {p: .spec.p, q: .spec.q}, " + rest + "}",
		}
	}
	values := func(name, field, hub, rest string) conversionTest {
		return conversionTest{
			name: name, schemas: schemas{"a: {" + field + "}", "b: {" + hub + "}"}, rule: "{spoke: .spec.a, hub: .spec.b, " + rest + "}",
		}
	}
	const ints = "p: {type: integer}\nq: {type: integer}"
	return []conversionTest{
		template("separator that starts like a number", ints, `template: "{p}-{q}"`),
		template("separator that ends like a number", ints, `template: "{p}:-{q}"`),
		template("text for absence that is a number", ints, `template: "{p}:{q}", absent: "0"`),
		template("text for absence that is none", ints, `template: "{p}:{q}", absent: "*"`),
		template("text for absence and separator overlap", ints, `template: "{p}aa{q}", absent: "a"`),
		template("strings", "p: {type: string}\nq: {type: string}", `template: "{p}:{q}"`),
		template("enum with a separator", "p: {type: string, enum: [a, 'a:b']}\nq: {type: string}", `template: "{p}:{q}"`),
		template("enum that overlaps a separator", "p: {type: string, enum: [a, 'a:']}\nq: {type: string}", `template: "{p}::{q}"`),
		template("absence of a string at the end", "p: {type: boolean}\nq: {type: string}", `template: "{p} {q}", absent: "*"`),
		template("nulls", "p: {type: integer, nullable: true}\nq: {type: string, nullable: true}", `template: "{p} {q}"`),
		values("values one of which is free", "type: string", "type: string", "values: {a: b, b: c, c: a}"),
		values("values in a chain", "type: string", "type: string", "values: {a: b, b: c}"),
		values("values and hubValues", "type: string", "type: string", "values: {a: b, b: a}, hubValues: {c: a}"),
		values("values of numbers", "type: string, enum: [a, b]", "type: number", "values: {a: 1.50, b: 1E2}"),
		values("values of numbers of an enum", "type: number, enum: [1.50, 100]", "type: number", "values: {1.50: 0.10, 1E2: 1}"),
		values("values of an enum and a free string", "type: string, enum: [a, b]", "type: string", "values: {a: b, b: c}"),
		values("a negation with nulls on both sides", "type: boolean, nullable: true", "type: boolean, nullable: true", "values: {true: false, false: true}"),
		values("String of int or string", "x-kubernetes-int-or-string: true", "type: string", "codec: String"),
		values("Base64 of an enum", "type: string", "type: string, format: byte, enum: [YQ==]", "codec: Base64"),
		values("JSON of anything", "x-kubernetes-preserve-unknown-fields: true", "type: string", "codec: JSON"),
		values("YAML of anything", "x-kubernetes-preserve-unknown-fields: true, nullable: true", "type: string", "codec: YAML"),
		values("expression with an enum", "type: string", "type: string, enum: [a, b]", `toHub: 'self == "a" ? "a" : "b"', toSpoke: self`),
		values("expression of a double", "type: number", "type: string", `toHub: 'string(self)', toSpoke: 'double(self)'`),
	}
}

type claim struct {
	t      transform.Transform
	plain  bool // outputs are not checked against the schema
	object string
	random *rand.Rand
}

func isPlain(r *syntax.Rule) bool {
	return r.Values == nil && r.HubValues == nil && r.Template == nil && r.Codec == nil && r.ToHub == nil && r.ToSpoke == nil
}

// check converts random values there and back, and returns the claim that fails, if any.
func (c *claim) check(t *testing.T, backward bool, from, to []*crdschema.Node) string {
	t.Helper()
	in, valid := make([]transform.Operand, len(from)), true
	for i, node := range from {
		in[i] = c.value(node)
		valid = valid && in[i].Present && transform.Admits(node, in[i].Value.Text()) && spelt(in[i].Value.Text(), node.Kind()) &&
			bounded(in[i].Value.Text(), node)
	}
	call := &transform.Call{Context: t.Context(), Source: source(c.object)}
	out, again := make([]transform.Operand, len(to)), make([]transform.Operand, len(from))
	there, back := c.t[0], c.t[1]
	if backward {
		there, back = back, there
	}
	before := show(in)
	err := there.Run(call, in, out)
	if show(in) != before {
		return "the inputs were changed: " + before
	}
	whole := err == nil
	for i, o := range out {
		if o.Present && !c.plain && !transform.Admits(to[i], o.Value.Text()) {
			return fmt.Sprintf("%s gives %s, which the schema does not allow", before, show(out))
		}
		whole = whole && o.Present && transform.Admits(to[i], o.Value.Text())
	}
	if there.Total && valid && !whole {
		return fmt.Sprintf("backward %v is said to be total, but %s gives %s, %v", backward, before, show(out), err)
	}
	if !there.Injective || err != nil {
		return ""
	}
	if err := back.Run(call, out, again); err != nil || !same(in, again) {
		return fmt.Sprintf("backward %v is said to be injective, but %s gives %s, and that %s, %v", backward, before, show(out), show(again), err)
	}
	return ""
}

// bounded reports whether the API server accepts a value of the right type.
func bounded(text []byte, node *crdschema.Node) bool {
	i, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || node == nil {
		return true
	}
	if v := node.Structural().ValueValidation; v != nil &&
		(v.Minimum != nil && float64(i) < *v.Minimum || v.Maximum != nil && float64(i) > *v.Maximum) {
		return false
	}
	return node.Format() != "int32" || int64(int32(i)) == i
}

// spelt reports whether a number is spelt as the API server spells it.
func spelt(text []byte, kind crdschema.Kind) bool {
	if kind != crdschema.Integer && kind != crdschema.IntOrString || text[0] == '"' {
		return true
	}
	i, err := strconv.ParseInt(string(text), 10, 64)
	return err == nil && strconv.FormatInt(i, 10) == string(text)
}

// same reports whether operands come back as the same JSON values: strings whatever their escapes,
// numbers as they were or as the API server stores them.
func same(a, b []transform.Operand) bool {
	for i := range a {
		if a[i].Present != b[i].Present {
			return false
		}
		x, y := string(a[i].Value.Text()), string(b[i].Value.Text())
		if x[0] == '"' && y[0] == '"' {
			x, y = jsondoc.Unquote([]byte(x)), jsondoc.Unquote([]byte(y))
		}
		if number, err := jsondoc.CanonicalNumber(x); x != y && (err != nil || number != y) {
			return false
		}
	}
	return true
}

// value returns a random value that nearly fits the schema, or an absent one.
func (c *claim) value(node *crdschema.Node) transform.Operand {
	pick := func(list ...string) string { return list[c.random.IntN(len(list))] }
	var text string
	kind, n := node.Kind(), c.random.IntN(12)
	switch {
	case n == 0:
		return transform.Operand{}
	case n == 1:
		text = pick("null", "true", "1", `"a"`, "{}", "[]")
	case n < 6 && len(node.Enum()) > 0:
		text = pick(node.Enum()...)
	case kind == crdschema.Integer || kind == crdschema.IntOrString && n%2 == 0:
		text = pick("0", "1", "-5", "80", "1023", "1024", "10737418240", "-0", "5.0", "1e3", "9223372036854775807",
			"-9223372036854775808", "9007199254740993", "9223372036854775808", "2147483647", "9223372036", "9223372037", fmt.Sprint(c.random.Int64N(200)-100))
	case kind == crdschema.Number:
		text = pick("0", "1.5", "1.50", "1e21", "1e-7", "-0.0", "1E2", "9007199254740993", "0.1", fmt.Sprint(c.random.Float64()))
	case kind == crdschema.Boolean:
		text = pick("true", "false")
	case kind == crdschema.Object || kind == crdschema.Map || kind == crdschema.Any && n > 6:
		text = pick(`{}`, `{"a":1,"b":"x"}`, `{ "b": [1.50, 9007199254740993], "a": {"c": null} }`, `{"x":1}`, `{"x":{"y":"yes"}}`)
	case kind == crdschema.Array:
		text = pick(`[]`, `["a","b"]`, `["b","a"]`, `[1]`)
	default:
		text = c.text()
	}
	v, err := jsondoc.RawValue([]byte(text))
	return transform.Operand{Value: v, Present: err == nil}
}

// text returns a string made of pieces that the rules of the tables look for.
func (c *claim) text() string {
	var text strings.Builder
	pieces := strings.Split("a b c x 1 0 -5 80 * . : :: - aa true false null v1 { } s m h 30s 1m30s Gi k e3 % YQ== aMOp"+
		" \\\"a\\\" {} [1.50] yes #x \\u0041 \\n é ", " ")
	for range c.random.IntN(5) {
		text.WriteString(pieces[c.random.IntN(len(pieces))])
		if c.random.IntN(4) == 0 {
			text.WriteByte(' ')
		}
	}
	return `"` + text.String() + `"`
}
