package transform_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// Columns count from the brace of the rule, which is at line 9, column 7 of its file.
func TestFindings(t *testing.T) {
	t.Parallel()
	env := newEnv(t, map[string]transform.GoFunc{"splitName": {}})
	strs := schemas{"a: {type: string}\nremediation: {type: string}", "b: {type: string}"}
	for _, tt := range []struct {
		name    string
		schemas schemas
		rule    string
		want    string
	}{
		{
			"types differ",
			schemas{"a: {type: integer}", "b: {type: string}"},
			"{spoke: .spec.a, hub: .spec.b}",
			`9:29 types-differ: rule 1: .spec.a is an integer, .spec.b is a string` +
				` (add codec: String, DurationSeconds, DurationNanoseconds or QuantityInt, or toHub and toSpoke)`,
		},
		{
			"list and its element",
			schemas{"a: {type: array, items: {type: string}}", "b: {type: object}"},
			"{spoke: .spec.a, hub: .spec.b}",
			`9:29 types-differ: rule 1: .spec.a is a list, .spec.b is an object` +
				` (say which element with [0] or [name=x], or each of them with [], or add toHub and toSpoke)`,
		},
		{
			"values not in the enum",
			schemas{"a: {type: string, enum: [rsa, ecdsa]}", "b: {type: string, enum: [RSA, ECDSA]}"},
			"{spoke: .spec.a, hub: .spec.b, values: {rsa: RAS, ecdsa: ECDSA}}",
			`9:52 value-not-in-enum: rule 1: "RAS" is not one of the values that the schema allows ("RSA", "ECDSA"): .spec.b` +
				` (did you mean "RSA"?)`,
		},
		{
			"values of another type",
			schemas{"a: {type: string}", "b: {type: integer}"},
			"{spoke: .spec.a, hub: .spec.b, values: {true: 1, b: x}}",
			"9:47 value-of-wrong-type: rule 1: true is a boolean, not a string: .spec.a" +
				" (quote it: YAML does not read it as a string)\n" +
				`9:59 value-of-wrong-type: rule 1: "x" is a string, not an integer: .spec.b (write a value of that type)`,
		},
		{
			"values that leave some out",
			schemas{"a: {type: string, enum: [All, None, Manual]}", "b: {type: string, enum: [A, Z, X]}"},
			"{spoke: .spec.a, hub: .spec.b, values: {All: A, None: Z}}",
			`9:47 values-incomplete: rule 1: .spec.a also allows "Manual", which .spec.b cannot hold` +
				" (add them to values, with null for one that has no counterpart: then .spec.b is absent)\n" +
				`9:47 values-incomplete: rule 1: .spec.b also allows "X", which .spec.a cannot hold` +
				" (add them to hubValues, with null for one that has no counterpart: then .spec.a is absent)",
		},
		{
			"values that leave some to a default",
			schemas{"a: {type: string, enum: [All, Manual]}", "b: {type: string, enum: [A, X]}"},
			"{spoke: .spec.a, hub: .spec.b, values: {All: A}, defaultInSpoke: All, defaultInHub: A}", "",
		},
		{
			"hubValues that has a way back", strs, "{spoke: .spec.a, hub: .spec.b, values: {a: b}, hubValues: {b: c}}",
			`9:66 hub-value-twice: rule 1: hubValues lists "b", which has a way back already` +
				` (remove it: the first entry of values that yields a value is its way back)`,
		},
		{
			"template",
			schemas{"a: {type: integer}", "b: {type: string}\nc: {type: array, items: {type: string}}"},
			`{spoke: .spec.a, hub: {host: .spec.b, port: .spec.c}, template: "{hots}:{host}{host}", absent: "x"}`,
			"9:15 template-of-no-string: rule 1: .spec.a is an integer, and a template makes a string (a template is the text of a string)\n" +
				"9:45 part-not-used: rule 1: the template has no part {port} (add {port} to the template, or remove the path)\n" +
				"9:51 template-part-of-no-text: rule 1: .spec.c is a list, which cannot be part of a text" +
				" (name its fields, or use codec: JSON, or toHub and toSpoke)\n" +
				"9:73-77 no-such-part: rule 1: the template has a part {hots}, and hub names host, port (did you mean host?)\n" +
				"9:85-91 part-twice: rule 1: the template has the part {host} twice (name each part once)",
		},
		{
			"template without separators",
			schemas{"a: {type: string}", "b: {type: string}\nc: {type: string}"},
			`{spoke: .spec.a, hub: {host: .spec.b, port: .spec.c}, template: "{host}{port}"}`,
			"9:78-84 parts-without-separator: rule 1: nothing separates the part {port} from the one before it" +
				" (put a text between them that the first does not contain)",
		},
		{
			"template, braces",
			schemas{"a: {type: string}", "b: {type: string}"},
			`{spoke: .spec.a, hub: {host: .spec.b}, template: "x{host"}`,
			"9:58-63 template-brace: rule 1: a brace is not closed in the template (close it with }, or write {{ for a brace)",
		},
		{
			"template, text for absence",
			schemas{"a: {type: string}", "b: {type: string}\nc: {type: string}"},
			`{spoke: .spec.a, hub: {host: .spec.b, port: .spec.c}, template: "{host}:{port}", absent: "::"}`,
			`9:96 absent-has-separator: rule 1: the text for an absent part contains the separator ":" (use a text without it)`,
		},
		{
			"codec of no such name", strs, "{spoke: .spec.a, hub: .spec.b, codec: Strng}",
			"9:45-50 no-such-codec: rule 1: there is no codec Strng (did you mean String?)",
		},
		{
			"codec of v1alpha1", strs, "{spoke: .spec.a, hub: .spec.b, codec: IntString}",
			"9:45-54 no-such-codec: rule 1: there is no codec IntString (write codec: String)",
		},
		{
			"codec of v1alpha1 that is a table", strs, "{spoke: .spec.a, hub: .spec.b, codec: Not}",
			"9:45-48 no-such-codec: rule 1: there is no codec Not (write values: {true: false, false: true})",
		},
		{
			"codec of other types", strs, "{spoke: .spec.a, hub: .spec.b, codec: String}",
			"9:45 codec-types: rule 1: codec String is for an integer, a number or a boolean and a string: .spec.a is a string, .spec.b is a string" +
				" (choose another codec, or toHub and toSpoke)",
		},
		{
			"go function", strs, "{spoke: .spec.a, hub: .spec.b, go: splitNames}",
			"9:42-52 no-such-function: rule 1: no function is registered as splitNames (did you mean splitName?)",
		},
		{
			"expression, field of object", strs, "{spoke: .spec.a, hub: .spec.b, toHub: 'self + object.spec.remdiation', toSpoke: self}",
			"9:65-75 no-such-field: rule 1: toHub: undefined field 'remdiation' (did you mean remediation?)",
		},
		{
			"expression, field of nothing near", strs, "{spoke: .spec.a, hub: .spec.b, toHub: object.spec.xyz, toSpoke: self}",
			"9:57-60 no-such-field: rule 1: toHub: undefined field 'xyz' (object.spec has a, remediation)",
		},
		{
			"values, one number in two spellings",
			schemas{"a: {type: number}", "b: {type: number}"},
			"{spoke: .spec.a, hub: .spec.b, values: {1: 10, 1.0: 20, 2: 30}, hubValues: {3e1: 1, 40: 1, 40.0: 2}}",
			"9:54 value-twice: rule 1: values lists 1 twice (keep one of them)\n" +
				"9:83 hub-value-twice: rule 1: hubValues lists 30, which has a way back already" +
				" (remove it: the first entry of values that yields a value is its way back)\n" +
				"9:98 hub-value-twice: rule 1: hubValues lists 40, which has a way back already" +
				" (remove it: the first entry of values that yields a value is its way back)",
		},
		{
			"expression, name", strs, "{spoke: .spec.a, hub: .spec.b, toHub: slef, toSpoke: object.metdata.name}",
			"9:45-49 no-such-name: rule 1: toHub: undeclared reference to 'slef' (did you mean self?)\n" +
				"9:67-74 no-such-field: rule 1: toSpoke: undefined field 'metdata' (did you mean metadata?)",
		},
		{
			"expression, element of nothing", strs, "{spoke: .spec.a, hub: .spec.b, toHub: element.a, toSpoke: self}",
			"9:45-52 no-such-name: rule 1: toHub: undeclared reference to 'element'" +
				" (the rule goes through no elements and is in no rule set: read object)",
		},
		{
			"expression, self of nothing", strs, "{hub: .spec.b, toHub: self}",
			"9:29-33 no-such-name: rule 1: toHub: undeclared reference to 'self'" +
				" (the rule has no spoke path whose value self could be: read object)",
		},
		{
			"expression, named value without self",
			schemas{"a: {type: string}\nc: {type: string}", "b: {type: string}"},
			`{spoke: {old: .spec.a, new: .spec.c}, hub: .spec.b, toHub: "old", toSpoke: '{"new": self, "odl": self}'}`,
			"9:67-70 no-such-name: rule 1: toHub: undeclared reference to 'old' (did you mean self.old?)\n" +
				`9:97-102 no-such-name: rule 1: toSpoke gives a value for "odl", which is not a path of spoke (did you mean old?)`,
		},
		{
			"expression, syntax", strs, "{spoke: .spec.a, hub: .spec.b, toHub: 'self + )', toSpoke: self}",
			"9:53-54 expression-syntax: rule 1: toHub: syntax error: ')' is not allowed here",
		},
		{
			"expression, overload", strs, "{spoke: .spec.a, hub: .spec.b, toHub: 'self + 1', toSpoke: self}",
			"9:51-52 expression-type: rule 1: toHub: + does not take (string, int)" +
				" (write string(...) around the number, or int(...) around the string)",
		},
		{
			"expression, lists of different types",
			schemas{"a: {type: array, items: {type: string}}", "b: {type: array, items: {type: string}}"},
			"{spoke: .spec.a, hub: .spec.b, toHub: 'self + [1]', toSpoke: 'self == [1] ? self : self'}",
			"9:51-52 expression-type: rule 1: toHub: + does not take (list(string), list(int))" +
				" (both have to be of one type: convert the elements of the list, or write dyn([...]) around it)\n" +
				"9:74-75 expression-type: rule 1: toSpoke: == does not take (list(string), list(int))" +
				" (both have to be of one type: convert the elements of the list, or write dyn([...]) around it)",
		},
		{
			"expression, one of two objects of the same schema",
			schemas{
				"a: {type: object, properties: {x: {type: object, properties: {leaf: {type: string}}}}}\n" +
					"c: {type: object, properties: {x: {type: object, properties: {leaf: {type: string, enum: [z]}}}}}",
				"b: {type: object, properties: {x: {type: object, properties: {leaf: {type: string}}}}}",
			},
			`{spoke: {old: .spec.a, new: .spec.c}, hub: .spec.b, toHub: 'self.?new.or(self.?old)', toSpoke: '{"new": self}'}`, "",
		},
		{
			"expression, one of two objects of different schemas",
			schemas{
				"a: {type: object, properties: {x: {type: string}}}\nc: {type: object, properties: {x: {type: integer}}}",
				"b: {type: object, properties: {x: {type: string}}}",
			},
			`{spoke: {old: .spec.a, new: .spec.c}, hub: .spec.b, toHub: 'self.?new.or(self.?old)', toSpoke: '{"old": has(self.x) ? self.x : 1}'}`,
			"9:79-80 expression-type: rule 1: toHub: or does not take optional_type(self.new).(optional_type(self.old))" +
				" (both have to be of one type: convert one of them, or write dyn(...) around it)\n" +
				"9:123-124 expression-type: rule 1: toSpoke: ? : does not take (bool, string, int)" +
				" (both have to be of one type: convert one of them, or write dyn(...) around it)",
		},
		{
			"expression, field of nothing near in one of two objects of the same schema",
			schemas{
				"a: {type: object, properties: {x: {type: object, properties: {leaf: {type: string}}}}}\n" +
					"c: {type: object, properties: {x: {type: object, properties: {leaf: {type: string}}}}}",
				"b: {type: string}",
			},
			`{spoke: {old: .spec.a, new: .spec.c}, hub: .spec.b, toHub: 'self.old.x.leaf + self.new.x.absent', toSpoke: '{}'}`,
			"9:96-102 no-such-field: rule 1: toHub: undefined field 'absent' (the object has leaf)",
		},
		{
			"expression, result",
			schemas{"a: {type: integer}", "b: {type: string}"},
			"{spoke: .spec.a, hub: .spec.b, toHub: 'self * 2', toSpoke: 'self == \"\" ? 1.5 : 2.5'}",
			"9:46-50 expression-result: rule 1: toHub gives int, and .spec.b is a string (write string(...))\n" +
				"9:80-83 expression-result: rule 1: toSpoke gives double, and .spec.a is an integer (write int(...))\n" +
				"9:86-89 expression-result: rule 1: toSpoke gives double, and .spec.a is an integer (write int(...))",
		},
		{
			"expression, object",
			schemas{"a: {type: string}", "b: {type: object, properties: {name: {type: string, enum: [x]}, i: {type: integer}}}"},
			`{spoke: .spec.a, hub: .spec.b, toHub: '{"nome": self, "name": "y", "i": [1]}', toSpoke: 'timestamp("2020-01-01T00:00:00Z")'}`,
			"9:47-53 no-such-field: rule 1: toHub .spec.b has no field \"nome\" (did you mean name?)\n" +
				"9:69-72 value-not-in-enum: rule 1: toHub \"y\" is not one of the values that the schema allows (\"x\"): .spec.b.name" +
				" (did you mean \"x\"?)\n" +
				"9:79-80 expression-result: rule 1: toHub gives list(int), and .spec.b.i is an integer (write int(...))\n" +
				"9:96-105 expression-result: rule 1: toSpoke gives timestamp, and .spec.a is a string (write string(...))",
		},
		{
			"expression, no map",
			schemas{"a: {type: string}", "b: {type: string}\nc: {type: string}"},
			`{spoke: .spec.a, hub: {b: .spec.b, c: .spec.c}, toHub: 'self', toSpoke: 'self.xyz'}`,
			"9:63-67 expression-result: rule 1: toHub gives string, and hub has named paths: b, c (write {\"b\": ...})\n" +
				"9:85-88 no-such-field: rule 1: toSpoke: undefined field 'xyz' (self has b, c)",
		},
		{
			"expression, cost",
			schemas{"l: {type: array, items: {type: string}}", "b: {type: boolean}"},
			`{spoke: .spec.l, hub: .spec.b, toHub: 'self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d != ""))))', toSpoke: '[""]'}`,
			"9:45 expression-cost: rule 1: toHub: the expression may cost 249655542402 units, and no more than 10000000 are allowed" +
				" (loop less, or bound the values in the schema with maxLength, maxItems and maxProperties)",
		},
		{
			"expression, regular expression", strs, "{spoke: .spec.a, hub: .spec.b, toHub: 'self.matches(\"(\") ? \"a\" : \"b\"', toSpoke: self}",
			"9:59-60 expression-type: rule 1: toHub: invalid matches argument",
		},
		{
			"named paths of other names",
			schemas{"a: {type: string}", "b: {type: string}"},
			"{spoke: {x: .spec.a}, hub: {y: .spec.b}, go: splitName}", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			compiled, findings := compile(t, env, tt.schemas, tt.rule)
			if diff := cmp.Diff(strings.Split(tt.want, "\n"), strings.Split(render(findings), "\n")); diff != "" {
				t.Error(diff)
			}
			if compiled[0] == nil || compiled[1] == nil {
				t.Error("no transform")
			}
		})
	}
}
