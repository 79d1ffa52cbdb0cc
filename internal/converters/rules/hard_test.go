package rules_test

// hardCases are rules that interact. Each is held to the laws on random objects and has no samples.
func hardCases() []engineCase {
	return []engineCase{
		{
			name: "lists in lists in maps",
			pair: pair{
				beta:  "{m: {'*': {l: [{name: string, k: {'*': {a: integer, b: string}}}, name]}}}",
				v1:    "{m: {'*': {list: [{name: string, k: [{id: string, c: integer, b: string}, id]}, name]}}}",
				rules: "- {field: '.m{}.l[name].k{id}.a', hub: '.m{}.list[name].k[id].c'}",
			},
		},
		{
			name: "map moves and becomes a list, with values that have no counterpart",
			pair: pair{
				beta: "{spec: {m: {'*': {a: string, u: string, e: enum A B}}}}", v1: "{l: [{name: string, a: string, w: string, e: enum A C}, name]}",
				rules: "- {field: '.spec.m{name}', hub: '.l[name]'}",
			},
		},
		{
			name: "a list of maps", pair: pair{
				beta: "{l: [{m: {'*': integer}}]}", v1: "{l: [{m: {'*': string}}]}",
				rules: "- {field: '.l[].m{}', hub: '.l[].m{}', codec: IntString}",
			},
		},
		{
			name: "codecs on wrapped elements", pair: pair{
				beta: "{spec: {ports: [integer]}}", v1: "{spec: {ports: [{port: string, name: string}]}}",
				rules: "- {field: '.spec.ports[]', hub: '.spec.ports[].port', codec: IntString}",
			},
		},
		{
			name: "values on elements", pair: pair{
				beta: "{modes: [enum a b c]}", v1: "{modes: [enum A B]}", rules: "- {field: '.modes[]', hub: '.modes[]', values: {a: A, b: B, c: B}}",
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
				rules: `- {field: .spec.at, hub: {h: .spec.from.host, p: .spec.to.port}, template: "{h}:{p}", absent: "-"}`,
			},
		},
		{
			name: "defaults on both sides of moved objects", pair: pair{
				beta: "{spec: {old: {a: string, b: integer}}}", v1: "{spec: {new: {a: string, c: integer}}}",
				rules: "- {field: .spec.old, hub: .spec.new}\n- {field: .spec.old.b, hub: .spec.new.c, default: 1, hubDefault: 2}\n- {field: .spec.old.a, hub: .spec.new.a, default: x}",
			},
		},
		{
			name: "defaults in elements", pair: pair{
				beta: "{l: [{a: string}]}", v1: "{l: [{b: string}]}", rules: "- {field: '.l[].a', hub: '.l[].b', default: A, hubDefault: B}",
			},
		},
		{
			name: "expressions that read the object", pair: pair{
				beta: "{spec: {a: string, b: string, u: string}}", v1: "{spec: {a: string, c: string, w: string}}",
				rules: `- field: .spec.b
  hub: .spec.c
  toHub: 'self + object.spec.?a.orValue("") + object.spec.?u.orValue("")'
  fromHub: 'self + object.spec.?w.orValue("") + (has(metadata.labels) ? "l" : "")'`,
			},
		},
		{
			name: "expressions that give nothing", pair: pair{
				beta: "{n: integer}", v1: "{n: integer}",
				rules: `- {field: .n, hub: .n, toHub: 'self > 5 ? optional.of(self * 2) : optional.none()', fromHub: 'self / 2'}`,
			},
		},
		{
			name: "union of objects", pair: pair{
				beta: "{git: {url: string, x: string}, svn: {url: string, y: string}}", v1: "{type: enum git svn, source: {url: string, rev: string}}",
				rules: `- {field: .git, hub: .source, when: '!has(object.svn)', whenHub: 'object.?type.orValue("git") == "git"'}
- {field: .svn, hub: .source, when: '!has(object.git)', whenHub: 'object.?type.orValue("") == "svn"'}
- {hub: .type, toHub: 'has(object.svn) ? "svn" : "git"'}`,
			},
			samples: []sample{
				{
					from: "v1", rest: `,"type":"git","source":{"url":"u","rev":"r"}`, want: `,"git":{"url":"u"}`,
					wantKept: `{"v1.source.rev":{"in":0,"value":"r"}}`,
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
				rules: `- {field: .git, hub: .source, when: '!has(object.svn)', whenHub: 'self.?type.orValue("git") == "git"'}
- {field: .svn, hub: .source, when: '!has(object.git)', whenHub: 'self.?type.orValue("") == "svn"'}
- {hub: .source.type, toHub: 'has(object.svn) ? "svn" : "git"'}`,
			},
			samples: []sample{{from: "v1", rest: `,"source":{"type":"svn","url":"u"}`, want: `,"svn":{"url":"u"}`}},
		},
		{
			name: "union by rule sets, with rules for parts of it", pair: pair{
				beta: "{git: {ref: string, s: string, x: string}, svn: {ref: string, n: integer, x: string}}",
				v1:   "{svn: boolean, source: {rev: string, s: string, l: [{a: string}]}}",
				rules: `- {field: .git, hub: .source, use: X, when: '!has(object.svn)', whenHub: '!object.?svn.orValue(false)'}
- {field: .svn, hub: .source, use: X, when: '!has(object.git)', whenHub: 'object.?svn.orValue(false)'}
- {field: .svn.n, hub: .source.s, codec: IntString, when: '!has(object.git)', whenHub: 'object.?svn.orValue(false)'}
- {hub: .svn, toHub: 'has(object.svn)'}`,
				sets: "X:\n- {field: .ref, hub: .rev}",
			},
			samples: []sample{{
				from: "v1", rest: `,"svn":true,"source":{"rev":"r","s":"3","l":[]}`, want: `,"svn":{"ref":"r","n":3}`,
				wantKept: `{"v1.source.l":{"value":[]}}`,
			}},
		},
		{
			name: "picks and elements of one list", pair: pair{
				beta: "{spec: {cpu: string, mem: integer, res: [{name: string, v: string}, name]}}", v1: "{spec: {res: [{name: string, w: string}, name]}}",
				rules: "- {field: '.spec.res[].v', hub: '.spec.res[].w'}\n- {field: .spec.cpu, hub: '.spec.res[name=cpu].w'}\n" +
					"- {field: .spec.mem, hub: '.spec.res[name=mem].w', codec: IntString}",
			},
		},
		{
			name: "picks, and a map of the other elements", pair: pair{
				beta: "{a: string, m: {'*': string}}", v1: "{l: [{name: string, value: string, u: string}, name]}",
				rules: "- {field: .a, hub: '.l[name=x].value'}\n- {field: '.m{name}', hub: '.l[name].value'}\n- {hub: '.l[name].u'}",
			},
			samples: []sample{
				{from: "v1", rest: `,"l":[{"name":"x","value":"q"}]`, want: `,"a":"q","m":{}`},
				{from: "v1beta1", rest: `,"a":"q","m":{"b":"1"}`, want: `,"l":[{"name":"b","value":"1"},{"name":"x","value":"q"}]`},
			},
		},
		{
			name: "picks of whole elements, and a map of the others", pair: pair{
				beta: "{o: {v: string}, m: {'*': {v: string}}}", v1: "{l: [{name: string, w: string, u: {x: string}}, name]}",
				rules: "- {field: .o, hub: '.l[name=x]', use: X}\n- {field: '.m{name}', hub: '.l[name]', use: X}", sets: "X:\n- {field: .v, hub: .w}\n- {hub: .u.x}",
			},
		},
		{
			name: "a pick of a whole element", pair: pair{
				beta: "{o: {value: string}}", v1: "{l: [{name: string, value: string}, name]}", rules: "- {field: .o, hub: '.l[name=x]'}\n- {hub: '.l[]'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"o":{}`, want: `,"l":[{"name":"x"}]`},
				{from: "v1beta1", rest: `,"o":{"value":"q"}`, want: `,"l":[{"value":"q","name":"x"}]`},
			},
		},
		{
			name: "a pick with a default", pair: pair{
				beta: "{spec: {a: string}}", v1: "{spec: {l: [{name: string, value: string}, name]}}",
				rules: "- {field: .spec.a, hub: '.spec.l[name=x].value', default: A}\n- {hub: '.spec.l[]'}",
			},
			samples: []sample{{from: "v1", rest: `,"spec":{}`, want: `,"spec":{"a":"A"}`, wantKept: `{"v1.spec.l":{"absent":true}}`}},
		},
		{
			name: "nulls where the API server removes none", pair: pair{
				beta: "{spec: {a: 'string?', l: [any]}}", v1: "{spec: {b: string, c: string, l: [{v: any}]}}",
				rules: "- {field: .spec.a, hub: .spec.b}\n- {field: '.metadata.annotations[\"example.com/c\"]', hub: .spec.c}\n- {field: '.spec.l[]', hub: '.spec.l[].v'}",
			},
			samples: []sample{{from: "v1beta1", rest: `,"spec":{"a":null,"l":[null]}`, want: `,"spec":{"l":[]}`, wantKept: `{"v1beta1.spec.a":{"value":null},"v1beta1.spec.l":{"list":{"extra":[{"after":-1,"value":null}]}}}`}},
		},
		{
			name: "a text of an object that has to have a field", pair: pair{
				beta: "{l: [{name: string, o: {n: [{name: string, v: string}, name]}}, name]}", v1: "{l: [{name: string, o: string}, name]}",
				rules: "- {field: '.l[name].o', hub: '.l[name].o', codec: JSON}",
			},
		},
		{
			name: "picks by a number", pair: pair{
				beta: "{http: string}", v1: "{ports: [{number: integer, name: string, x: string}]}", rules: "- {field: .http, hub: '.ports[number=80].name'}",
			},
		},
		{
			name: "part of the first element", pair: pair{
				beta: "{a: string, b: integer}", v1: "{l: [{a: string, o: {b: integer}, c: string}]}",
				rules: "- {field: .a, hub: '.l[0].a'}\n- {field: .b, hub: '.l[0].o.b'}",
			},
		},
		{
			name: "an object as the first element", pair: pair{
				beta: "{o: {a: string, e: enum A B C, u: string, l: [string]}}", v1: "{l: [{a: string, e: enum A B, w: string}]}",
				rules: "- {field: .o, hub: '.l[0]'}\n- {field: .o.e, hub: '.l[0].e', values: {A: A, B: B, C: B}}",
			},
			samples: []sample{{
				from: "v1beta1", rest: `,"o":{"a":"x","u":"y"}`, want: `,"l":[{"a":"x"}]`, wantKept: `{"v1beta1.o":{"list":{"parts":{"0":{"kept":[{"path":["u"],"value":"y"}]}}}}}`,
			}},
		},
		{
			name: "first element of a list that both have", pair: pair{
				beta: "{first: string, l: [string]}", v1: "{l: [string]}", rules: "- {field: .first, hub: '.l[0]'}",
			},
		},
		{
			name: "list below a pick", pair: pair{
				beta: "{args: [string]}", v1: "{containers: [{name: string, args: [{v: string}]}]}",
				rules: "- {field: '.args[]', hub: '.containers[name=main].args[].v'}",
			},
		},
		{
			name: "objects as text", pair: pair{
				beta: "{spec: {j: string, y: string, b: string}}", v1: "{spec: {j: {a: integer, b: [string]}, y: any, b: string}}",
				rules: "- {field: .spec.j, hub: .spec.j, codec: JSON}\n- {field: .spec.y, hub: .spec.y, codec: YAML}\n- {field: .spec.b, hub: .spec.b, codec: Base64}",
			},
		},
		{
			name: "places that meet labels", pair: pair{
				beta: "{spec: {owner: string, tier: enum a b}}", v1: "{spec: {x: string}}",
				rules: "- {field: .spec.owner, hub: '.metadata.annotations[\"example.com/owner\"]'}\n- {field: .spec.tier, hub: .metadata.labels.tier}",
			},
		},
		{
			name: "labels of both versions", pair: pair{
				beta: "{a: string}", v1: "{a: string}", rules: "- {field: .metadata.labels.old, hub: '.metadata.labels[\"example.com/new\"]'}",
			},
		},
		{
			name: "recursion with wraps", pair: pair{
				beta:  "{t: {n: integer, kids: {'*': {n: integer, kids: {'*': {n: integer}}}}}}",
				v1:    "{t: {s: string, list: [{key: string, s: string, list: [{key: string, s: string}, key]}, key]}}",
				rules: "- {field: .t, hub: .t, use: T}", sets: "T:\n- {field: .n, hub: .s, codec: IntString}\n- {field: '.kids{key}', hub: '.list[key]', use: T}",
			},
		},
		{
			name: "rule set on elements and a field", pair: pair{
				beta: "{one: {a: string, u: string}, many: [{a: string, u: string}]}", v1: "{spec: {one: {b: string}, many: [{b: string, w: integer}]}}",
				rules: "- {field: .one, hub: .spec.one, use: X}\n- {field: '.many[]', hub: '.spec.many[]', use: X}", sets: "X:\n- {field: .a, hub: .b}",
			},
		},
		{
			name: "anything", pair: pair{
				beta: "{c: any, o: {'+': any}}", v1: "{c: any, o: {'+': any}}", rules: "- {field: .c.x, hub: .c.y}\n- {field: '.o.list[].a', hub: '.o.items[].b'}",
			},
		},
		{
			name: "a place that only the name shares", pair: pair{
				beta: "{spec: {x: string, y: {a: string}}}", v1: "{spec: {x: {a: string}, y: string}}",
				rules: "- {field: .spec.y.a, hub: .spec.x.a}\n- {field: .spec.x, hub: .spec.y}",
			},
		},
		{
			name: "dropped and kept", pair: pair{
				beta: "{spec: {a: {x: string, y: string}, l: [{p: string, q: string}]}}", v1: "{spec: {a: {x: string}, l: [{p: string, r: string}]}}",
				rules: "- {field: .spec.a.y, drop: why not}\n- {field: '.spec.l[].q', drop: why not}\n- {hub: '.spec.l[].r'}",
			},
			drops: dropsOf(".spec.a.y", ".spec.l[].q"),
		},
		{
			name: "several values", pair: pair{
				beta: "{q: string, d: string, p: string, n: boolean}", v1: "{q: integer, d: integer, p: string, n: boolean}",
				rules: "- {field: .q, hub: .q, codec: QuantityInt}\n- {field: .d, hub: .d, codec: DurationSeconds}\n" +
					`- {field: .p, hub: .p, toHub: 'self + "%"', fromHub: 'self.endsWith("%") ? self.substring(0, size(self) - 1) : self'}` + "\n- {field: .n, hub: .n, codec: Not}",
			},
		},
	}
}
