package rules_test

// elementCases have expressions that read the element around a place, or the place that a rule set
// is applied to.
func elementCases() []engineCase {
	return []engineCase{
		{
			name: "element: a condition on another field", pair: pair{
				beta: "{l: [{id: string, name: string, u: string}]}", v1: "{l: [{id: string, filter: {name: string, w: integer}}]}",
				rules: "- {spoke: '.l[].name', hub: '.l[].filter.name', whenToHub: 'element.?id.orValue(\"\") == \"\"'}",
			},
			samples: []sample{{
				from: "v1beta1", rest: `,"l":[{"id":"x","name":"a"},{"name":"b"},{"id":"","name":"c"}]`,
				want:     `,"l":[{"id":"x"},{"filter":{"name":"b"}},{"id":"","filter":{"name":"c"}}]`,
				wantKept: `{"v1beta1.l":{"list":{"elements":{"0":{"kept":[{"path":["name"],"value":"a"}]}},"length":3}}}`,
			}},
		},
		{
			name: "element: a union with its discriminator", pair: pair{
				beta: "{l: [{type: enum Git HTTP, git: string, http: string}]}", v1: "{l: [{type: enum Git HTTP, url: string}]}",
				rules: "- {spoke: '.l[].git', hub: '.l[].url', whenToHub: element.type == \"Git\", whenToSpoke: element.type == \"Git\"}\n" +
					"- {spoke: '.l[].http', hub: '.l[].url', whenToHub: element.type == \"HTTP\", whenToSpoke: element.type == \"HTTP\"}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"l":[{"type":"Git","git":"a"},{"type":"HTTP","http":"b"}]`, want: `,"l":[{"type":"Git","url":"a"},{"type":"HTTP","url":"b"}]`},
			},
		},
		{
			name: "element: computed from the element", pair: pair{
				beta: "{l: [{count: integer, parts: [{on: boolean}]}]}", v1: "{list: [{parts: [{on: boolean}]}]}",
				rules: "- {spoke: '.l[]', hub: '.list[]', use: X}",
				sets:  "X:\n- {spoke: .count, toSpoke: 'size(element.?parts.orValue([]).filter(p, p.?on.orValue(false)))'}",
			},
			samples: []sample{{from: "v1", rest: `,"list":[{"parts":[{"on":true},{"on":false}]},{}]`, want: `,"l":[{"parts":[{"on":true},{"on":false}],"count":1},{"count":0}]`}},
		},
		{
			name: "element: of a rule set in one place, with rules within from outside", pair: pair{
				beta: "{o: {id: string, a: string, b: string}, p: string}", v1: "{o: {id: string, x: string, y: {b: string}, p: string}}",
				rules: "- {spoke: .o, hub: .o, use: X}\n- {spoke: .p, hub: .o.p}",
				sets: "X:\n- {spoke: .a, hub: .x, toHub: 'element.?id.orValue(\"\") + \"/\" + self', toSpoke: 'self.split(\"/\")[1]'}\n" +
					"- {spoke: .b, hub: .y.b, whenToHub: '!has(element.id)', whenToSpoke: '!has(element.id)'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"o":{"id":"i","a":"1"},"p":"q"`, want: `,"o":{"id":"i","x":"i/1","p":"q"}`},
				{from: "v1beta1", rest: `,"o":{"a":"1","b":"2"}`, want: `,"o":{"x":"/1","y":{"b":"2"}}`},
			},
		},
		{
			name: "element: entries that become elements", pair: pair{
				beta: "{m: {'*': {on: boolean, n: string}}}", v1: "{l: [{name: string, on: boolean, m: string}, name]}",
				rules: "- {spoke: '.m{name}.n', hub: '.l[name].m', whenToHub: 'element.?on.orValue(true)', whenToSpoke: 'element.name != \"x\"'}",
			},
		},
		{
			name: "element: as a whole", pair: pair{
				beta: "{l: [{a: string, b: string}]}", v1: "{l: [{b: string, c: string}]}",
				rules: "- {spoke: '.l[].a', hub: '.l[].c', whenToHub: 'dyn(element) != {\"a\": self}'}",
			},
		},
		{
			name: "element: in elements of elements", pair: pair{
				beta: "{l: [{on: boolean, k: [{on: boolean, a: string}]}]}", v1: "{l: [{on: boolean, k: [{on: boolean, b: string}]}]}",
				rules: "- {spoke: '.l[].k[].a', hub: '.l[].k[].b', whenToHub: 'element.?on.orValue(true)', whenToSpoke: 'element.?on.orValue(true)'}",
			},
		},
		{
			name: "element: of a recursive type", pair: pair{
				beta:  "{t: {n: integer, k: string, kids: [{n: integer, k: string, kids: [{n: integer, k: string}]}]}}",
				v1:    "{t: {s: string, k: string, list: [{s: string, k: string, list: [{s: string, k: string}]}]}}",
				rules: "- {spoke: .t, hub: .t, use: T}",
				sets:  "T:\n- {spoke: .n, hub: .s, toHub: 'element.?k.orValue(\"\") + string(self)', toSpoke: 'int(self.substring(size(element.?k.orValue(\"\"))))'}\n- {spoke: '.kids[]', hub: '.list[]', use: T}",
			},
		},
	}
}
