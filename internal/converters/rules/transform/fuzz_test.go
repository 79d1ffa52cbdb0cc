package transform_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// FuzzExpression compiles any expression, from any place of a schema to any other, and runs it on
// any object. Nothing panics, the expression ends within the cost limit, and its result is JSON of
// limited size, the same every time.
func FuzzExpression(f *testing.F) {
	const object = `{"metadata":{"name":"n","labels":{"l":"v"}},"spec":{"s":"a,b","i":3,"d":1.5,"t":true,"l":["y","x"],` +
		`"m":{"k":"v"},"o":{"p":"1Gi"},"a":[1,{"x":null}]}}`
	for i, text := range expressionSeeds() {
		f.Add(text, object, uint8(i), uint8(0))
		f.Add(text, `{"spec":{"s":"","i":-1,"l":[],"m":{},"o":{},"a":null}}`, uint8(0), uint8(i))
	}
	l := newLab(f)
	f.Fuzz(func(t *testing.T, text, object string, from, to uint8) {
		obj, err := jsondoc.ParseObject([]byte(object))
		if err != nil || len(text) > 200 || len(object) > 1<<11 {
			return
		}
		self := l.names[int(from)%len(l.names)]
		compiled := l.compile(t, text, self, l.names[int(to)%len(l.names)])
		if compiled == nil {
			return
		}
		value, err := obj.Get("spec", self)
		if err != nil {
			return // a repeated name
		}
		in := []transform.Operand{{Present: value != nil}}
		if value != nil {
			in[0].Value = value.Value()
		}
		if first, second := forward(t, compiled, object, in), forward(t, compiled, object, in); first != second {
			t.Fatalf("%.300s, then %.300s", first, second)
		}
	})
}

// Most expressions fit every place; the others have findings.
func expressionSeeds() []string {
	return []string{
		`self`, `object.spec.s + ":" + string(self)`, `has(object.spec.o.p) ? object.spec.o.p : metadata.name`, `object.spec.?s.orValue("")`,
		`self == null ? optional.none() : optional.of(self)`, `object.spec.l.map(x, x + "!").filter(x, x != "")`, `object.spec.m.map(k, k + object.spec.m[k])`,
		`object.spec.m.transformMapEntry(k, v, {v: k})`, `{"b": object.spec.i, "c": [1.5, 2u, true, null]}`, `object.spec.s.split(",").join(";")`,
		`quantity(object.spec.o.p).asInteger()`, `int(object.spec.s)`, `double(object.spec.i) / 0.0`, `object.spec.s.matches("^(a+)+$")`,
		`object.spec.s.findAll("[a-z]").size()`, `object.spec.l.all(x, object.spec.l.exists(y, x == y))`, `sets.contains(object.spec.l, ["x"])`,
		`lists.range(10).map(i, i * i).sum()`, `"%s %d %.3f".format([object.spec.s, object.spec.i, object.spec.d])`, `object.spec.a[1].x`,
		`object.spec.l.sort().distinct().reverse().slice(0, 1)`, `[[1], [2, [3]]].flatten()`, `object.spec.s.replace("a", object.spec.s)`,
		`duration("1h") + duration("1m") > duration("2s")`, `timestamp("2026-01-02T03:04:05Z").getFullYear()`, `url("https://h:1/p").getHost()`,
		`ip("::1").family()`, `cidr("10.0.0.0/8").prefixLength()`, `semver("1.2.3").minor()`, `format.dns1123Label().validate("A").hasValue()`,
		`object.spec.s.indexOf(",")`, `object.spec.s.substring(1).charAt(0).lowerAscii()`, `b"abc"`, `type(self)`, `9223372036854775807 + object.spec.i`,
		`object.spec.i / 0`, `object.spec.i % 0`, `object.spec.l[7]`, `object.spec.s < "b" && !object.spec.t || object.spec.i in [1, 2, 3]`, `"\U0010ffff"`,
		`object.spec.l.sortBy(x, size(x))`, `string(b"\xff")`, `{1: 2}`, `[object.spec, object.spec]`, `metadata.labels["l"]`, `object.spec.a[?0].value()`,
	}
}

// A lab has an environment, and a schema with a place of each kind.
type lab struct {
	env   *transform.Env
	root  *crdschema.Node
	names []string // of the places
}

func newLab(tb testing.TB) *lab {
	tb.Helper()
	const places = "a: {x-kubernetes-preserve-unknown-fields: true}\ns: {type: string}\ni: {type: integer}\nd: {type: number}\nt: {type: boolean}\n" +
		"l: {type: array, items: {type: string}}\nm: {type: object, additionalProperties: {type: string}}\no: {type: object, properties: {p: {type: string}}}"
	root, _ := schemas{places, places}.parse(tb)
	return &lab{newEnv(tb, nil), root, []string{"a", "s", "i", "d", "t", "l", "m", "o"}}
}

// compile returns the way of an expression, or nil if it is not valid for the places.
func (l *lab) compile(t *testing.T, text, from, to string) *transform.Way {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	file, findings := syntax.Parse("rules.yaml", []byte(head+"{spoke: .spec."+from+", hub: .spec."+to+", toHub: "+string(quoted)+", toSpoke: self}\n"))
	if len(findings) > 0 {
		return nil
	}
	rule := file.Conversions[0].Versions[0].Rules[0]
	rule.ToSpoke = nil
	compiled, findings := compileRule(l.env, rule, l.root, l.root)
	for _, f := range findings {
		if f.Code == "" || f.Message == "" || f.Pos.Line < 9 {
			t.Fatalf("a finding that says little: %+v", f)
		}
	}
	if len(findings) > 0 {
		return nil
	}
	return compiled[0]
}

// The limits of an evaluation. The cost limit is checked after each step, and the last one may cost
// as much again.
const (
	mostCost   = 2_100_000
	mostResult = 1 << 20
	mostTime   = 2 * time.Minute // it takes a tenth of a second
)

// forward returns the result of a transform, or its error.
func forward(t *testing.T, compiled *transform.Way, object string, in []transform.Operand) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), mostTime)
	defer cancel()
	call := &transform.Call{Context: ctx, Source: source(object)}
	out := make([]transform.Operand, 1)
	err := compiled.Run(call, in, out)
	if spent := call.Spent(); spent > mostCost || ctx.Err() != nil {
		t.Fatalf("it costs %d units: %v, %v", spent, err, ctx.Err())
	}
	if err != nil {
		if out[0].Present {
			t.Fatalf("a value with an error: %v", err)
		}
		return "error: " + err.Error()
	}
	if !out[0].Present {
		return "-"
	}
	text := out[0].Value.Text()
	if _, err := jsondoc.RawValue(text); err != nil || len(text) > mostResult {
		t.Fatalf("a result of %d bytes: %v", len(text), err)
	}
	return string(text)
}
