package transform_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A conversion is what a transform makes of values: `->` to the hub, `<-` from it.
type conversion struct{ in, arrow, out string }

func TestConversions(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	for _, group := range [][]conversionTest{
		identityTests(), valuesTests(), templateTests(), scalarCodecTests(), textCodecTests(), expressionTests(),
	} {
		for _, tt := range group {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				rule := parseRule(t, tt.rule)
				sides := [2]int{}
				if rule.Spoke != nil {
					sides[0] = len(rule.Spoke.Paths)
				}
				if rule.Hub != nil {
					sides[1] = len(rule.Hub.Paths)
				}
				compiled := mustCompile(t, env, tt.schemas, tt.rule)
				for _, c := range tt.conversions {
					backward, count := c.arrow == "<-", sides[1]
					if backward {
						count = sides[0]
					}
					if got := run(t, compiled, backward, tt.object, c.in, count); got != c.out {
						t.Errorf("%s %s %s, want %s", c.in, c.arrow, got, c.out)
					}
				}
				if got := claims(compiled); got != tt.claims {
					t.Errorf("claims %q, want %q", got, tt.claims)
				}
			})
		}
	}
}

type conversionTest struct {
	name    string
	schemas schemas
	rule    string
	object  string
	// claims are I for injective and T for total, first to the hub, then from it: "IT/it" claims
	// both for the way to the hub and neither for the way back.
	claims      string
	conversions []conversion
}

func claims(t transform.Transform) string {
	var text [2]string
	for i, way := range t {
		text[i] = "it"
		if way.Injective {
			text[i] = "It"
		}
		if way.Total {
			text[i] = strings.Replace(text[i], "t", "T", 1)
		}
	}
	return text[0] + "/" + text[1]
}

func identityTests() []conversionTest {
	return []conversionTest{
		{
			name:    "plain pair",
			schemas: schemas{"a: {type: string}", "b: {type: string}"},
			rule:    "{spoke: .spec.a, hub: .spec.b}",
			claims:  "IT/IT",
			conversions: []conversion{
				{`"x\u0041"`, "->", `"x\u0041"`}, {`"x"`, "<-", `"x"`}, {`-`, "->", `-`}, {`null`, "->", `null`},
			},
		},
		{
			name:        "plain pair, the hub has an enum",
			schemas:     schemas{"a: {type: string}", "b: {type: string, enum: [x]}"},
			rule:        "{spoke: .spec.a, hub: .spec.b}",
			claims:      "It/IT",
			conversions: []conversion{{`"y"`, "->", `"y"`}},
		},
		{
			name:        "integers are numbers",
			schemas:     schemas{"a: {type: integer}", "b: {type: number}"},
			rule:        "{spoke: .spec.a, hub: .spec.b}",
			claims:      "IT/It",
			conversions: []conversion{{`1e3`, "->", `1e3`}, {`1.50`, "<-", `1.50`}},
		},
	}
}

func valuesTests() []conversionTest {
	return []conversionTest{
		{
			name:    "values one to one",
			schemas: schemas{"a: {type: string, enum: [rsa, ecdsa]}", "b: {type: string, enum: [RSA, ECDSA]}"},
			rule:    "{spoke: .spec.a, hub: .spec.b, values: {rsa: RSA, ecdsa: ECDSA}}",
			claims:  "IT/IT",
			conversions: []conversion{
				{`"rsa"`, "->", `"RSA"`},
				{`"ECDSA"`, "<-", `"ecdsa"`},
				{`"\u0072sa"`, "->", `"RSA"`},
				{`"RSA"`, "->", "error: the value has no counterpart"},
				{`"dsa"`, "<-", "error: the value has no counterpart"},
				{`null`, "->", "error: the value has no counterpart"},
				{`1`, "->", "error: the value has no counterpart"},
			},
		},
		{
			name:    "values many to one, and one that only the hub has",
			schemas: schemas{"a: {type: string, enum: [All, None, Manual]}", "b: {type: string, enum: [Apply, Preview, Later]}"},
			rule: "{spoke: .spec.a, hub: .spec.b, values: {All: Apply, None: Preview, Manual: Preview}," +
				" hubValues: {Later: Manual}}",
			claims: "iT/iT",
			conversions: []conversion{
				{`"None"`, "->", `"Preview"`},
				{`"Manual"`, "->", `"Preview"`},
				{`"Preview"`, "<-", `"None"`},
				{`"Later"`, "<-", `"Manual"`},
			},
		},
		{
			name:    "unlisted values are themselves",
			schemas: schemas{"a: {type: string, enum: [a, x]}", "b: {type: string, enum: [b, x]}"},
			rule:    "{spoke: .spec.a, hub: .spec.b, values: {a: b}}",
			claims:  "IT/IT",
			conversions: []conversion{
				{`"x"`, "->", `"x"`},
				{`"x"`, "<-", `"x"`},
				// b is not a value of the field, and would come back as a.
				{`"b"`, "->", "error: the value has no counterpart"},
			},
		},
		{
			name:        "without an enum, a value may be what another one yields",
			schemas:     schemas{"a: {type: string}", "b: {type: string}"},
			rule:        "{spoke: .spec.a, hub: .spec.b, values: {a: b}}",
			claims:      "iT/iT",
			conversions: []conversion{{`"a"`, "->", `"b"`}, {`"b"`, "->", `"b"`}, {`"c"`, "->", `"c"`}, {`"b"`, "<-", `"a"`}},
		},
		{
			name:        "without an enum, values that change places",
			schemas:     schemas{"a: {type: string}", "b: {type: string}"},
			rule:        "{spoke: .spec.a, hub: .spec.b, values: {a: b, b: a}}",
			claims:      "IT/IT",
			conversions: []conversion{{`"a"`, "->", `"b"`}, {`"b"`, "->", `"a"`}, {`"c"`, "->", `"c"`}},
		},
		{
			name:    "booleans and integers",
			schemas: schemas{"a: {type: boolean}", "b: {type: integer, enum: [0, 9007199254740993]}"},
			rule:    "{spoke: .spec.a, hub: .spec.b, values: {true: 9007199254740993, false: 0}}",
			claims:  "IT/IT",
			conversions: []conversion{
				{`true`, "->", `9007199254740993`},
				{`9007199254740993`, "<-", `true`},
				{`9007199254740992`, "<-", "error: the value has no counterpart"},
			},
		},
		{
			name:    "numbers, however the rule or the object spells them",
			schemas: schemas{"a: {type: string, enum: [low, high, more]}", "b: {type: number}"},
			rule:    "{spoke: .spec.a, hub: .spec.b, values: {low: 0.50, high: 1.0, more: 1e3}}",
			claims:  "IT/it",
			conversions: []conversion{
				{`"low"`, "->", `0.5`},
				{`"high"`, "->", `1`},
				{`"more"`, "->", `1000`},
				{`0.5`, "<-", `"low"`},
				{`0.50`, "<-", `"low"`},
				{`1`, "<-", `"high"`},
				{`1.0`, "<-", `"high"`},
				{`1000`, "<-", `"more"`},
				{`0.51`, "<-", "error: the value has no counterpart"},
				{`1e999999999`, "<-", "error: the value has no counterpart"},
			},
		},
		{
			name:        "integers that are the same as a float64",
			schemas:     schemas{"a: {type: string, enum: [p, q]}", "b: {type: integer}"},
			rule:        "{spoke: .spec.a, hub: .spec.b, values: {p: 9007199254740992, q: 9007199254740993}}",
			claims:      "IT/it",
			conversions: []conversion{{`9007199254740992`, "<-", `"p"`}, {`9007199254740993`, "<-", `"q"`}, {`"q"`, "->", `9007199254740993`}},
		},
		{
			name:        "numbers of an enum",
			schemas:     schemas{"a: {type: number, enum: [0.50, 1]}", "b: {type: number, enum: [2, 3]}"},
			rule:        "{spoke: .spec.a, hub: .spec.b, values: {0.5: 2.0, 1.00: 3}}",
			claims:      "IT/IT",
			conversions: []conversion{{`0.5`, "->", `2`}, {`1`, "->", `3`}, {`2`, "<-", `0.5`}, {`3.0`, "<-", `1`}},
		},
		{
			name:        "null on both sides",
			schemas:     schemas{"a: {type: boolean, nullable: true}", "b: {type: string, nullable: true, enum: [\"on\", \"off\", null]}"},
			rule:        "{spoke: .spec.a, hub: .spec.b, values: {true: \"on\", false: \"off\"}}",
			claims:      "IT/IT",
			conversions: []conversion{{`null`, "->", `null`}, {`null`, "<-", `null`}},
		},
	}
}

func templateTests() []conversionTest {
	hostPort := schemas{"hostPort: {type: string}", "host: {type: string}\nport: {type: integer}"}
	return []conversionTest{
		{
			name:    "template",
			schemas: hostPort,
			rule:    `{spoke: .spec.hostPort, hub: {host: .spec.host, port: .spec.port}, template: "{host}:{port}"}`,
			claims:  "It/iT",
			conversions: []conversion{
				{`"db:5432"`, "->", `"db" | 5432`},
				{`"db" | 5432`, "<-", `"db:5432"`},
				{`":1"`, "->", `"" | 1`},
				{`"a\u003a1"`, "->", `"a" | 1`},
				{`- | -`, "<-", `-`},
				{`"a:b:1"`, "->", "error: the text does not match the template"}, // the leftmost separator counts
				{`"db:05"`, "->", "error: the text does not match the template"},
				{`"db"`, "->", "error: the text does not match the template"},
				{`"db:99999999999999999999"`, "->", "error: the text does not match the template"},
				{`"db" | -`, "<-", "error: a part of the template is absent, and the rule has no text for that"},
				{`"db" | null`, "<-", "error: a value has no text of its own"},
				{`"db" | 5.0`, "<-", "error: a value has no text of its own"},
				{`7`, "->", "error: the text does not match the template"},
			},
		},
		{
			name:        "template whose parts are distinct",
			schemas:     schemas{"v: {type: string}", "major: {type: integer}\nminor: {type: integer}\nrest: {type: string}"},
			rule:        `{spoke: .spec.v, hub: {a: .spec.major, b: .spec.minor, c: .spec.rest}, template: "v{a}.{b}{{{c}}}"}`,
			claims:      "It/IT",
			conversions: []conversion{{`"v1.-2{x}}"`, "->", `1 | -2 | "x}"`}, {`1 | -2 | "x}"`, "<-", `"v1.-2{x}}"`}},
		},
		{
			name: "template with a text for absent parts",
			schemas: schemas{
				"s: {type: object, properties: {minute: {type: string}, hour: {type: string}}}", "schedule: {type: string}",
			},
			rule: `{spoke: {m: .spec.s.minute, h: .spec.s.hour}, hub: .spec.schedule, template: "{m} {h}", absent: "*"}`,
			// A part may be the text for absence, or contain a blank.
			claims: "iT/It",
			conversions: []conversion{
				{`"5" | -`, "->", `"5 *"`},
				{`"5 *"`, "<-", `"5" | -`},
				{`"*" | "1"`, "->", `"* 1"`},
				{`"* *"`, "<-", "error: the text says that all parts are absent"},
				{`"@daily"`, "<-", "error: the text does not match the template"},
				{`- | -`, "->", "-"},
			},
		},
		{
			name:    "template of an enum, a boolean and numbers",
			schemas: schemas{"t: {type: string}", "e: {type: string, enum: [a, a-b]}\nf: {type: boolean}\nnum: {type: number}"},
			rule:    `{spoke: .spec.t, hub: {e: .spec.e, f: .spec.f, num: .spec.num}, template: "{e}/{f}/{num}"}`,
			claims:  "It/iT",
			conversions: []conversion{
				{`"a-b/true/1.5"`, "->", `"a-b" | true | 1.5`},
				{`"a" | false | 1.50`, "<-", `"a/false/1.5"`},
				{`"a/true/1.50"`, "->", "error: the text does not match the template"},
				{`"b/true/1"`, "->", "error: the result is not a value that the schema allows"},
				{`"a/yes/1"`, "->", "error: the text does not match the template"},
				{`"x/y" | true | 1`, "<-", "error: a value has no text of its own"},
			},
		},
		{
			name:        "template with int or string",
			schemas:     schemas{"t: {type: string}", "p: {x-kubernetes-int-or-string: true}"},
			rule:        `{spoke: .spec.t, hub: {p: .spec.p}, template: "port {p}"}`,
			claims:      "It/iT",
			conversions: []conversion{{`"port 80"`, "->", `80`}, {`"port http"`, "->", `"http"`}, {`"80"`, "<-", `"port 80"`}},
		},
	}
}
