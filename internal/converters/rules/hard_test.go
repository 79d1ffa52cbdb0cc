package rules_test

// hardCases are rules that interact. Each is held to the laws on random objects and has no samples.
func hardCases() []engineCase {
	return []engineCase{
		{
			name: "lists in lists in maps",
			pair: pair{
				beta:  "{m: {'*': {l: [{name: string, k: {'*': {a: integer, b: string}}}, name]}}}",
				v1:    "{m: {'*': {list: [{name: string, k: [{id: string, c: integer, b: string}, id]}, name]}}}",
				rules: "- {spoke: '.m{}.l[name].k{id}.a', hub: '.m{}.list[name].k[id].c'}",
			},
		},
		{
			name: "map moves and becomes a list, with values that have no counterpart",
			pair: pair{
				beta: "{spec: {m: {'*': {a: string, u: string, e: enum A B}}}}", v1: "{l: [{name: string, a: string, w: string, e: enum A C}, name]}",
				rules: "- {spoke: '.spec.m{name}', hub: '.l[name]'}",
			},
		},
		{
			name: "a list of maps", pair: pair{
				beta: "{l: [{m: {'*': integer}}]}", v1: "{l: [{m: {'*': string}}]}",
				rules: "- {spoke: '.l[].m{}', hub: '.l[].m{}', codec: String}",
			},
		},
		{
			name: "codecs on wrapped elements", pair: pair{
				beta: "{spec: {ports: [integer]}}", v1: "{spec: {ports: [{port: string, name: string}]}}",
				rules: "- {spoke: '.spec.ports[]', hub: '.spec.ports[].port', codec: String}",
			},
		},
		{
			name: "values on elements", pair: pair{
				beta: "{modes: [enum a b c]}", v1: "{modes: [enum A B]}", rules: "- {spoke: '.modes[]', hub: '.modes[]', values: {a: A, b: B, c: B}}",
			},
		},
		{
			name: "elements that do not fit", pair: pair{beta: "{l: [enum a b], m: {'*': enum a b}}", v1: "{l: [enum a c], m: {'*': enum a c}}"},
		},
		{
			name: "object and map", pair: pair{beta: "{o: {a: string, b: string}, p: {'*': string}}", v1: "{o: {'*': string}, p: {a: string}}"},
		},
		{
			name: "scalars that nearly fit", pair: pair{
				beta: "{a: intorstring, b: any, c: number, d: 'string?', e: [intorstring]}", v1: "{a: string, b: {x: string}, c: integer, d: integer, e: [integer]}",
			},
		},
		{
			name: "template over objects that come and go", pair: pair{
				beta: "{spec: {at: string}}", v1: "{spec: {from: {host: string}, to: {port: string}}}",
				rules: `- {spoke: .spec.at, hub: {h: .spec.from.host, p: .spec.to.port}, template: "{h}:{p}", absent: "-"}`,
			},
		},
		{
			name: "a rule into a pair with a rule set, from outside", pair: pair{
				beta:  "{spec: {ready: integer, t: {spec: {img: string, same: string, l: [{n: string, x: string}]}}}}",
				v1:    "{spec: {t: {spec: {ready: integer, image: string, same: string, l: [{name: string, x: string}]}}}}",
				rules: "- {spoke: .spec.t.spec, hub: .spec.t.spec, use: M}\n- {spoke: .spec.ready, hub: .spec.t.spec.ready}",
				sets:  "M:\n- {spoke: .img, hub: .image}\n- {spoke: '.l[].n', hub: '.l[].name'}",
			},
		},
		{
			name: "values without a counterpart", pair: pair{
				beta: "{a: enum x y z, d: boolean}", v1: "{b: enum X Y W, e: enum yes}",
				rules: "- {spoke: .a, hub: .b, values: {x: X, y: Y, z: null}, hubValues: {W: null}}\n- {spoke: .d, hub: .e, values: {true: yes, false: null}}",
			},
		},
		{
			name: "defaults from the schemas", pair: pair{
				beta: `{a: string, c: 'string = "z"', l: [{p: string, n: 'string = "http"'}], d: 'string = "one"'}`,
				v1:   `{o: {b: 'string = "x"'}, c: string, l: [{p: 'string = "TCP"', n: string}], d: 'string = "two"'}`,
				rules: "- {spoke: .a, hub: .o.b, defaultFrom: schema}\n- {spoke: .c, hub: .c, defaultFrom: schema}\n" +
					"- {spoke: '.l[].p', hub: '.l[].p', defaultFrom: schema}\n- {spoke: '.l[].n', hub: '.l[].n', defaultFrom: schema}\n" +
					"- {spoke: .d, hub: .d, defaultFrom: schema}",
			},
		},
		{
			name: "empty values that are left out", pair: pair{
				beta: "{a: string, b: 'integer?', c: {'*': string}, d: [string], e: boolean, f: enum x y, l: [{n: string}]}",
				v1:   "{o: {a: string, b: integer, c: {'*': string}, d: [string], e: boolean, f: enum X Y, l: [{m: string}]}}",
				rules: "- {spoke: .a, hub: .o.a, omitEmpty: Hub}\n- {spoke: .b, hub: .o.b, omitEmpty: Spoke}\n- {spoke: .c, hub: .o.c, omitEmpty: Both}\n" +
					"- {spoke: .d, hub: .o.d, omitEmpty: Both}\n- {spoke: .e, hub: .o.e, omitEmpty: Hub}\n" +
					"- {spoke: .f, hub: .o.f, values: {x: X, y: Y}, omitEmpty: Hub}\n- {spoke: '.l[].n', hub: '.o.l[].m', omitEmpty: Both}",
			},
		},
		{
			name: "rules into nested pairs with rule sets", pair: pair{
				beta:  "{out: string, a: {b: {n: string, c: {n: string}}}}",
				v1:    "{a: {b: {m: string, c: {m: string, out: string}}}}",
				rules: "- {spoke: .a.b, hub: .a.b, use: B}\n- {spoke: .out, hub: .a.b.c.out}",
				sets:  "B:\n- {spoke: .n, hub: .m}\n- {spoke: .c, hub: .c, use: C}\nC:\n- {spoke: .n, hub: .m}",
			},
		},
		{
			name: "rules into places that are kept", pair: pair{
				beta: "{x: string, xs: [{x: string}], k: string, p: string}",
				v1: "{o: {a: string, b: {x: string, y: string}, l: [{x: string, y: string}], m: {'*': string}, " +
					"ps: [{name: string, v: string, w: string}, name]}}",
				rules: "- {hub: .o}\n- {spoke: .x, hub: .o.b.x}\n- {spoke: '.xs[].x', hub: '.o.l[].x'}\n" +
					"- {spoke: .k, hub: '.o.m[\"k\"]'}\n- {spoke: .p, hub: '.o.ps[name=p].v'}",
			},
		},
		{
			name: "defaults on both sides of moved objects", pair: pair{
				beta: "{spec: {old: {a: string, b: integer}}}", v1: "{spec: {new: {a: string, c: integer}}}",
				rules: "- {spoke: .spec.old, hub: .spec.new}\n- {spoke: .spec.old.b, hub: .spec.new.c, defaultInSpoke: 1, defaultInHub: 2}\n- {spoke: .spec.old.a, hub: .spec.new.a, defaultInSpoke: x}",
			},
		},
		{
			name: "defaults in elements", pair: pair{
				beta: "{l: [{a: string}]}", v1: "{l: [{b: string}]}", rules: "- {spoke: '.l[].a', hub: '.l[].b', defaultInSpoke: A, defaultInHub: B}",
			},
		},
		{
			name: "expressions that read the object", pair: pair{
				beta: "{spec: {a: string, b: string, u: string}}", v1: "{spec: {a: string, c: string, w: string}}",
				rules: `- spoke: .spec.b
  hub: .spec.c
  toHub: 'self + object.spec.?a.orValue("") + object.spec.?u.orValue("")'
  toSpoke: 'self + object.spec.?w.orValue("") + (has(metadata.labels) ? "l" : "")'`,
			},
		},
		{
			name: "expressions that give nothing", pair: pair{
				beta: "{n: integer}", v1: "{n: integer}",
				rules: `- {spoke: .n, hub: .n, toHub: 'self > 5 ? optional.of(self * 2) : optional.none()', toSpoke: 'self / 2'}`,
			},
		},
		{
			name: "union of objects", pair: pair{
				beta: "{git: {url: string, x: string}, svn: {url: string, y: string}}", v1: "{type: enum git svn, source: {url: string, rev: string}}",
				rules: `- {spoke: .git, hub: .source, whenToHub: '!has(object.svn)', whenToSpoke: 'object.?type.orValue("git") == "git"'}
- {spoke: .svn, hub: .source, whenToHub: '!has(object.git)', whenToSpoke: 'object.?type.orValue("") == "svn"'}
- {hub: .type, toHub: 'has(object.svn) ? "svn" : "git"'}`,
			},
			samples: []sample{
				{
					from: "v1", rest: `,"type":"git","source":{"url":"u","rev":"r"}`, want: `,"git":{"url":"u"}`,
					wantKept: `{"v1.source.rev":{"value":"r"}}`,
				},
				{
					from: "v1", rest: `,"type":"svn","source":{"url":"u","rev":"r"}`, want: `,"svn":{"url":"u"}`,
					wantKept: `{"v1.source.rev":{"value":"r"}}`,
				},
			},
		},
		{
			name: "union whose conditions read what only one version has", pair: pair{
				beta: "{git: {url: string}, svn: {url: string}}", v1: "{source: {type: enum git svn, url: string}}",
				rules: `- {spoke: .git, hub: .source, whenToHub: '!has(object.svn)', whenToSpoke: 'self.?type.orValue("git") == "git"'}
- {spoke: .svn, hub: .source, whenToHub: '!has(object.git)', whenToSpoke: 'self.?type.orValue("") == "svn"'}
- {hub: .source.type, toHub: 'has(object.svn) ? "svn" : "git"'}`,
			},
			samples: []sample{{from: "v1", rest: `,"source":{"type":"svn","url":"u"}`, want: `,"svn":{"url":"u"}`}},
		},
		{
			name: "union by rule sets, with rules for parts of it", pair: pair{
				beta: "{git: {ref: string, s: string, x: string}, svn: {ref: string, n: integer, x: string}}",
				v1:   "{svn: boolean, source: {rev: string, s: string, l: [{a: string}]}}",
				rules: `- {spoke: .git, hub: .source, use: X, whenToHub: '!has(object.svn)', whenToSpoke: '!object.?svn.orValue(false)'}
- {spoke: .svn, hub: .source, use: X, whenToHub: '!has(object.git)', whenToSpoke: 'object.?svn.orValue(false)'}
- {spoke: .svn.n, hub: .source.s, codec: String, whenToHub: '!has(object.git)', whenToSpoke: 'object.?svn.orValue(false)'}
- {hub: .svn, toHub: 'has(object.svn)'}`,
				sets: "X:\n- {spoke: .ref, hub: .rev}",
			},
			samples: []sample{{
				from: "v1", rest: `,"svn":true,"source":{"rev":"r","s":"3","l":[]}`, want: `,"svn":{"ref":"r","n":3}`,
				wantKept: `{"v1.source.l":{"value":[]}}`,
			}},
		},
		{
			name: "picks and elements of one list", pair: pair{
				beta: "{spec: {cpu: string, mem: integer, res: [{name: string, v: string}, name]}}", v1: "{spec: {res: [{name: string, w: string}, name]}}",
				rules: "- {spoke: '.spec.res[].v', hub: '.spec.res[].w'}\n- {spoke: .spec.cpu, hub: '.spec.res[name=cpu].w'}\n" +
					"- {spoke: .spec.mem, hub: '.spec.res[name=mem].w', codec: String}",
			},
		},
		{
			name: "picks, and a map of the other elements", pair: pair{
				beta: "{a: string, m: {'*': string}}", v1: "{l: [{name: string, value: string, u: string}, name]}",
				rules: "- {spoke: .a, hub: '.l[name=x].value'}\n- {spoke: '.m{name}', hub: '.l[name].value'}\n- {hub: '.l[name].u'}",
			},
			samples: []sample{
				{from: "v1", rest: `,"l":[{"name":"x","value":"q"}]`, want: `,"a":"q","m":{}`},
				{from: "v1beta1", rest: `,"a":"q","m":{"b":"1"}`, want: `,"l":[{"name":"b","value":"1"},{"name":"x","value":"q"}]`},
			},
		},
		{
			name: "picks of whole elements, and a map of the others", pair: pair{
				beta: "{o: {v: string}, m: {'*': {v: string}}}", v1: "{l: [{name: string, w: string, u: {x: string}}, name]}",
				rules: "- {spoke: .o, hub: '.l[name=x]', use: X}\n- {spoke: '.m{name}', hub: '.l[name]', use: X}", sets: "X:\n- {spoke: .v, hub: .w}\n- {hub: .u.x}",
			},
		},
		{
			name: "a pick of a whole element", pair: pair{
				beta: "{o: {value: string}}", v1: "{l: [{name: string, value: string}, name]}", rules: "- {spoke: .o, hub: '.l[name=x]'}\n- {hub: '.l[]'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"o":{}`, want: `,"l":[{"name":"x"}]`},
				{from: "v1beta1", rest: `,"o":{"value":"q"}`, want: `,"l":[{"value":"q","name":"x"}]`},
			},
		},
		{
			name: "a pick with a default", pair: pair{
				beta: "{spec: {a: string}}", v1: "{spec: {l: [{name: string, value: string}, name]}}",
				rules: "- {spoke: .spec.a, hub: '.spec.l[name=x].value', defaultInSpoke: A}\n- {hub: '.spec.l[]'}",
			},
			samples: []sample{{from: "v1", rest: `,"spec":{}`, want: `,"spec":{"a":"A"}`, wantKept: `{"v1.spec.l":{"absent":true}}`}},
		},
		{
			name: "nulls where the API server removes none", pair: pair{
				beta: "{spec: {a: 'string?', l: [any]}}", v1: "{spec: {b: string, c: string, l: [{v: any}]}}",
				rules: "- {spoke: .spec.a, hub: .spec.b}\n- {spoke: '.metadata.annotations[\"example.com/c\"]', hub: .spec.c}\n- {spoke: '.spec.l[]', hub: '.spec.l[].v'}",
			},
			samples: []sample{{from: "v1beta1", rest: `,"spec":{"a":null,"l":[null]}`, want: `,"spec":{"l":[]}`, wantKept: `{"v1beta1.spec.a":{"value":null},"v1beta1.spec.l":{"list":{"added":[{"after":-1,"value":null}],"length":0}}}`}},
		},
		{
			name: "a text of an object that has to have a field", pair: pair{
				beta: "{l: [{name: string, o: {n: [{name: string, v: string}, name]}}, name]}", v1: "{l: [{name: string, o: string}, name]}",
				rules: "- {spoke: '.l[name].o', hub: '.l[name].o', codec: JSON}",
			},
		},
		{
			name: "picks by a number", pair: pair{
				beta: "{http: string}", v1: "{ports: [{number: integer, name: string, x: string}]}", rules: "- {spoke: .http, hub: '.ports[number=80].name'}",
			},
		},
		{
			name: "part of the first element", pair: pair{
				beta: "{a: string, b: integer}", v1: "{l: [{a: string, o: {b: integer}, c: string}]}",
				rules: "- {spoke: .a, hub: '.l[0].a'}\n- {spoke: .b, hub: '.l[0].o.b'}",
			},
		},
		{
			name: "an object as the first element", pair: pair{
				beta: "{o: {a: string, e: enum A B C, u: string, l: [string]}}", v1: "{l: [{a: string, e: enum A B, w: string}]}",
				rules: "- {spoke: .o, hub: '.l[0]'}\n- {spoke: .o.e, hub: '.l[0].e', values: {A: A, B: B, C: B}}",
			},
			samples: []sample{{
				from: "v1beta1", rest: `,"o":{"a":"x","u":"y"}`, want: `,"l":[{"a":"x"}]`, wantKept: `{"v1beta1.o":{"list":{"elements":{"0":{"kept":[{"path":["u"],"value":"y"}]}},"length":1}}}`,
			}},
		},
		{
			name: "first element of a list that both have", pair: pair{
				beta: "{first: string, l: [string]}", v1: "{l: [string]}", rules: "- {spoke: .first, hub: '.l[0]'}",
			},
		},
		{
			name: "list below a pick", pair: pair{
				beta: "{args: [string]}", v1: "{containers: [{name: string, args: [{v: string}]}]}",
				rules: "- {spoke: '.args[]', hub: '.containers[name=main].args[].v'}",
			},
		},
		{
			name: "objects as text", pair: pair{
				beta: "{spec: {j: string, y: string, b: string}}", v1: "{spec: {j: {a: integer, b: [string]}, y: any, b: string}}",
				rules: "- {spoke: .spec.j, hub: .spec.j, codec: JSON}\n- {spoke: .spec.y, hub: .spec.y, codec: YAML}\n- {spoke: .spec.b, hub: .spec.b, codec: Base64}",
			},
		},
		{
			name: "places that meet labels", pair: pair{
				beta: "{spec: {owner: string, tier: enum a b}}", v1: "{spec: {x: string}}",
				rules: "- {spoke: .spec.owner, hub: '.metadata.annotations[\"example.com/owner\"]'}\n- {spoke: .spec.tier, hub: .metadata.labels.tier}",
			},
		},
		{
			name: "labels of both versions", pair: pair{
				beta: "{a: string}", v1: "{a: string}", rules: "- {spoke: .metadata.labels.old, hub: '.metadata.labels[\"example.com/new\"]'}",
			},
		},
		{
			name: "recursion with wraps", pair: pair{
				beta:  "{t: {n: integer, kids: {'*': {n: integer, kids: {'*': {n: integer}}}}}}",
				v1:    "{t: {s: string, list: [{key: string, s: string, list: [{key: string, s: string}, key]}, key]}}",
				rules: "- {spoke: .t, hub: .t, use: T}", sets: "T:\n- {spoke: .n, hub: .s, codec: String}\n- {spoke: '.kids{key}', hub: '.list[key]', use: T}",
			},
		},
		{
			name: "rule set on elements and a field", pair: pair{
				beta: "{one: {a: string, u: string}, many: [{a: string, u: string}]}", v1: "{spec: {one: {b: string}, many: [{b: string, w: integer}]}}",
				rules: "- {spoke: .one, hub: .spec.one, use: X}\n- {spoke: '.many[]', hub: '.spec.many[]', use: X}", sets: "X:\n- {spoke: .a, hub: .b}",
			},
		},
		{
			name: "a condition on elements with a rule set", pair: pair{
				beta: "{l: [{on: boolean, n: string, x: string, u: string}]}", v1: "{list: [{on: boolean, m: string, x: string, w: string}]}",
				rules: "- {spoke: '.l[]', hub: '.list[]', use: X, whenToHub: 'self.?on.orValue(true)', whenToSpoke: 'has(self.x)'}", sets: "X:\n- {spoke: .n, hub: .m}",
			},
		},
		{
			name: "a condition on entries that become elements, with a rule set", pair: pair{
				beta: "{m: {'*': {on: boolean, n: string, u: string}}}", v1: "{l: [{name: string, on: boolean, m: string, w: string}, name]}",
				rules: "- {spoke: '.m{name}', hub: '.l[name]', use: X, whenToHub: 'self.?on.orValue(true)'}", sets: "X:\n- {spoke: .n, hub: .m}",
			},
		},
		{
			name: "conditions on elements with two rule sets", pair: pair{
				beta: "{l: [{on: boolean, a: string}]}", v1: "{l: [{on: boolean, b: string, c: string}]}",
				rules: "- {spoke: '.l[]', hub: '.l[]', use: X, whenToHub: 'self.?on.orValue(true)', whenToSpoke: 'self.?on.orValue(true)'}\n" +
					"- {spoke: '.l[]', hub: '.l[]', use: Y, whenToHub: '!self.?on.orValue(true)', whenToSpoke: '!self.?on.orValue(true)'}",
				sets: "X:\n- {spoke: .a, hub: .b}\nY:\n- {spoke: .a, hub: .c}",
			},
		},
		{
			name: "a condition on the elements of a recursive type", pair: pair{
				beta:  "{t: {n: integer, kids: [{n: integer, kids: [{n: integer}]}]}}",
				v1:    "{t: {s: string, list: [{s: string, list: [{s: string}]}]}}",
				rules: "- {spoke: .t, hub: .t, use: T}", sets: "T:\n- {spoke: .n, hub: .s, codec: String}\n- {spoke: '.kids[]', hub: '.list[]', use: T, whenToHub: 'self.?n.orValue(0) > 0'}",
			},
		},
		{
			name: "anything", pair: pair{
				beta: "{c: any, o: {'+': any}}", v1: "{c: any, o: {'+': any}}", rules: "- {spoke: .c.x, hub: .c.y}\n- {spoke: '.o.list[].a', hub: '.o.items[].b'}",
			},
		},
		{
			name: "a field of one element that goes elsewhere, and the others", pair: pair{
				beta: "{l: [{id: enum x y, key: string, a: string}, id]}", v1: "{k: string, l: [{id: enum x y, a: string}, id]}",
				rules: "- {spoke: '.l[id=x].key', hub: .k}",
			},
		},
		{
			name: "and a condition on the elements", pair: pair{
				beta: "{l: [{id: enum x y, key: string, a: string}, id]}", v1: "{k: string, m: [{id: enum x y, b: string}, id]}",
				rules: "- {spoke: '.l[id=x].key', hub: .k}\n- {spoke: '.l[id].a', hub: '.m[id].b', whenToHub: 'false'}",
			},
		},
		{
			name: "a list of elements that does not come back", pair: pair{
				beta: "{l: [{id: enum x y, a: string}, id]}", v1: "{m: [{id: enum x y, a: string}, id]}",
				rules: "- {spoke: .l, hub: .m, whenToSpoke: 'false'}",
			},
		},
		{
			name: "a list that goes there on a condition, and a condition on the list", pair: pair{
				beta: "{l: [{id: enum x y, a: string}, id], b: string, c: string}", v1: "{k: [{id: enum x y, a: string}, id], m: string, d: string}",
				rules: "- {spoke: .l, hub: .k, whenToHub: 'has(object.c)'}\n- {spoke: .b, hub: .m, whenToHub: '!has(object.l)'}\n- {spoke: .c, hub: .d}",
			},
		},
		{
			name: "a condition on a place that has a value only if it cannot be converted", pair: pair{
				beta: "{a: string, b: string}", v1: "{n: integer, m: string}",
				rules: "- {spoke: .a, hub: .n, toHub: int(self), toSpoke: string(self)}\n- {spoke: .b, hub: .m, whenToHub: '!has(object.a)'}",
			},
		},
		{
			name: "and on the object around it", pair: pair{
				beta: "{o: {a: string}, b: string}", v1: "{n: integer, m: string}",
				rules: "- {spoke: .o.a, hub: .n, toHub: int(self), toSpoke: string(self)}\n- {spoke: .b, hub: .m, whenToHub: '!has(object.o)'}",
			},
		},
		{
			name: "a place that only the name shares", pair: pair{
				beta: "{spec: {x: string, y: {a: string}}}", v1: "{spec: {x: {a: string}, y: string}}",
				rules: "- {spoke: .spec.y.a, hub: .spec.x.a}\n- {spoke: .spec.x, hub: .spec.y}",
			},
		},
		{
			name: "dropped and kept", pair: pair{
				beta: "{spec: {a: {x: string, y: string}, l: [{p: string, q: string}]}}", v1: "{spec: {a: {x: string}, l: [{p: string, r: string}]}}",
				rules: "- {spoke: .spec.a.y, drop: why not}\n- {spoke: '.spec.l[].q', drop: why not}\n- {hub: '.spec.l[].r'}",
			},
			drops: dropsOf(".spec.a.y", ".spec.l[].q"),
		},
		{
			name: "several values", pair: pair{
				beta: "{q: string, d: string, p: string, n: boolean}", v1: "{q: integer, d: integer, p: string, n: boolean}",
				rules: "- {spoke: .q, hub: .q, codec: QuantityInt}\n- {spoke: .d, hub: .d, codec: DurationSeconds}\n" +
					`- {spoke: .p, hub: .p, toHub: 'self + "%"', toSpoke: 'self.endsWith("%") ? self.substring(0, size(self) - 1) : self'}` + "\n- {spoke: .n, hub: .n, values: {true: false, false: true}}",
			},
		},
	}
}
