package transform_test

import "strings"

func expressionTests() []conversionTest {
	return []conversionTest{
		{
			name:    "percent",
			schemas: schemas{"weight: {type: integer}", "traffic: {type: string}"},
			rule:    `{spoke: .spec.weight, hub: .spec.traffic, toHub: 'string(self) + "%"', toSpoke: 'int(self.replace("%", ""))'}`,
			claims:  "iT/it",
			conversions: []conversion{
				{`9007199254740993`, "->", `"9007199254740993%"`},
				{`"80%"`, "<-", `80`},
				{`-`, "->", `-`},
				{`"abc"`, "<-", "error: the expression fails for the value"},
				{`null`, "->", "error: the expression fails for the value: no such overload"},
			},
		},
		{
			// Each guard copies a part of the expression: 40 of them once took all memory.
			name:    "many guarded calls",
			schemas: schemas{"a: {type: string}", "b: {type: string}"},
			rule: `{spoke: .spec.a, hub: .spec.b, toSpoke: self, toHub: '` +
				strings.Repeat(`self.split(",")[0] + `, 40) + `""'}`,
			claims:      "it/iT",
			conversions: []conversion{{`"a,b"`, "->", `"` + strings.Repeat("a", 40) + `"`}},
		},
		{
			name: "two fields merged",
			schemas: schemas{
				"old: {type: integer}\nnew: {type: integer}", "min: {type: integer}",
			},
			rule: `{spoke: {old: .spec.old, new: .spec.new}, hub: .spec.min, toHub: "self.?new.or(self.?old)", toSpoke: '{"new": self}'}`,
			// toSpoke gives no value for old.
			claims:      "it/it",
			conversions: []conversion{{`1 | -`, "->", `1`}, {`1 | 2`, "->", `2`}, {`- | -`, "->", `-`}, {`3`, "<-", `- | 3`}},
		},
		{
			name:        "named values, each always there",
			schemas:     schemas{"a: {type: string}", "p: {type: string}\nq: {type: boolean}"},
			rule:        `{spoke: .spec.a, hub: {p: .spec.p, q: .spec.q}, toHub: '{"p": self, "q": self == "k"}', toSpoke: 'self.p + string(self.q)'}`,
			claims:      "iT/iT",
			conversions: []conversion{{`"k"`, "->", `"k" | true`}, {`"k" | true`, "<-", `"ktrue"`}},
		},
		{
			name:    "object and metadata",
			schemas: schemas{"a: {type: string}\nlist: {type: array, items: {type: string}}\n\"n\": {type: integer}", "b: {type: string}"},
			rule: `{spoke: .spec.a, hub: .spec.b,` +
				` toHub: 'metadata.name + ":" + metadata.?labels["x/y"].orValue("none") + ":" + object.spec.list.join(",")',` +
				` toSpoke: 'has(object.spec.b) ? object.kind : self'}`,
			object:      `{"kind":"Thing","metadata":{"name":"n"},"spec":{"list":["p","q"],"b":"1","n":{"broken":1,"broken":2}}}`,
			claims:      "it/it",
			conversions: []conversion{{`"x"`, "->", `"n:none:p,q"`}, {`"x"`, "<-", `"Thing"`}},
		},
		{
			name:    "an expression that computes a value from the object alone",
			schemas: schemas{"a: {type: string}", "count: {type: integer}"},
			rule:    `{hub: .spec.count, toHub: 'size(object.spec.a)'}`,
			object:  `{"spec":{"a":"four"}}`,
			claims:  "it/it",
			conversions: []conversion{
				{``, "->", `4`}, {`4`, "<-", ``},
			},
		},
		{
			name:    "optional",
			schemas: schemas{"a: {type: string}", "b: {type: string}"},
			rule: `{spoke: .spec.a, hub: .spec.b, toHub: 'self == "" ? optional.none() : optional.of(self)',` +
				` toSpoke: 'optional.ofNonZeroValue(self)'}`,
			claims:      "it/it",
			conversions: []conversion{{`""`, "->", `-`}, {`"x"`, "->", `"x"`}, {`""`, "<-", `-`}},
		},
		{
			name: "maps are gone through in order",
			schemas: schemas{
				"m: {type: object, additionalProperties: {type: string}}", "l: {type: array, items: {type: string}}",
			},
			rule: `{spoke: .spec.m, hub: .spec.l, toHub: 'self.map(k, k + self[k]) + {"f": 1, "e": 2, "d": 3}.map(k, k)` +
				` + self.transformMap(k, v, v + k).map(k, k)', toSpoke: 'self.transformMapEntry(i, v, {v: string(i)})'}`,
			claims: "it/it",
			conversions: []conversion{
				{`{"b":"1","a":"2","c":"3"}`, "->", `["a2","b1","c3","d","e","f","a","b","c"]`},
				{`["z","y"]`, "<-", `{"y":"1","z":"0"}`},
			},
		},
		{
			name: "the libraries of Kubernetes",
			schemas: schemas{
				"a: {type: string}", "b: {type: array, items: {x-kubernetes-preserve-unknown-fields: true}}",
			},
			rule: `{spoke: .spec.a, hub: .spec.b, toHub: '[quantity("1Ki").asInteger(), url("https://h:1/p").getHostname(), ` +
				`isIP("::1"), cidr("10.0.0.0/8").containsIP("10.1.2.3"), "a1b22".findAll("[0-9]+"), [3,1,2].sort(), ` +
				`sets.contains([1,2],[2]), format.named("dns1123Label").value().validate("A_").hasValue(), ` +
				`semver("1.2.3").minor(), self.split(",").isSorted(), [1,2].sum(), ["a"].transformMap(i, v, "k" + v)[?0].hasValue()]', ` +
				`toSpoke: '"x"'}`,
			claims: "it/iT",
			conversions: []conversion{
				{`"a,b"`, "->", `[1024,"h",true,true,["1","22"],[1,2,3],true,true,2,true,3,true]`},
			},
		},
		{
			name:    "quantities",
			schemas: schemas{"a: {type: string}", "b: {type: boolean}"},
			rule:    `{spoke: .spec.a, hub: .spec.b, toHub: 'quantity(self).isGreaterThan(quantity("1e3")) || isQuantity(self)', toSpoke: '""'}`,
			claims:  "it/iT",
			conversions: []conversion{
				{`"1Gi"`, "->", `true`}, {`"1E"`, "->", `true`}, {`"1e999999999"`, "->", "error: the expression fails for the value"},
			},
		},
		{
			name:    "doubles and integers",
			schemas: schemas{"a: {type: number}", "b: {type: integer}"},
			rule:    `{spoke: .spec.a, hub: .spec.b, toHub: 'int(self * 100.0)', toSpoke: 'double(self) / 100.0'}`,
			claims:  "it/it",
			conversions: []conversion{
				{`1`, "->", `100`}, {`1.25`, "->", `125`}, {`150`, "<-", `1.5`}, {`100`, "<-", `1`},
			},
		},
		{
			name:    "handed on as it came",
			schemas: schemas{"a: {type: object, x-kubernetes-preserve-unknown-fields: true}", "b: {type: object, x-kubernetes-preserve-unknown-fields: true}"},
			rule:    `{spoke: .spec.a, hub: .spec.b, toHub: 'self', toSpoke: '{"b": self.b, "a": 1}'}`,
			claims:  "iT/it",
			conversions: []conversion{
				{`{ "x": 1.50, "x2": 1e2 }`, "->", `{ "x": 1.50, "x2": 1e2 }`}, {`{"b":{"z":1,"y":2}}`, "<-", `{"a":1,"b":{"z":1,"y":2}}`},
			},
		},
		{
			name:    "results that do not fit",
			schemas: schemas{"a: {x-kubernetes-preserve-unknown-fields: true}", "b: {type: integer}"},
			rule:    `{spoke: .spec.a, hub: .spec.b, toHub: 'self.x', toSpoke: 'string(self)'}`,
			claims:  "it/iT",
			conversions: []conversion{
				{`{"x":1}`, "->", `1`},
				{`{"x":"1"}`, "->", "error: the result is not a value that the schema allows"},
				{`{"x":null}`, "->", "error: the result is not a value that the schema allows"},
				{`{"y":1}`, "->", "error: the expression fails for the value: no such key"},
				{`{"x":1,"x":2}`, "->", `2`},
			},
		},
	}
}
