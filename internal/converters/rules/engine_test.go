package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/laws/hold"
)

// A sample is an object, its form at the other version, and what is kept of its own version there:
// the annotations without their prefix and digests.
type sample struct {
	from     string // v1beta1 or v1
	rest     string // behind metadata
	want     string
	wantKept string
}

func other(version string) string {
	if version == "v1" {
		return "v1beta1"
	}
	return "v1"
}

type engineCase struct {
	name    string
	pair    pair
	samples []sample
	drops   []hold.Drop
}

func TestConvert(t *testing.T) {
	t.Parallel()
	for _, test := range allCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			kind := test.pair.kind(t)
			objects := make([][]byte, 0, len(test.samples))
			for _, s := range test.samples {
				to := other(s.from)
				object := head(s.from, s.rest)
				objects = append(objects, []byte(object))
				there := convert(t, kind, object, s.from, to)
				bare, kept := bareAndKept(t, there)
				if diff := cmp.Diff(head(to, s.want), bare); diff != "" {
					t.Errorf("%s -> %s of %s (-want +got):\n%s", s.from, to, object, diff)
				}
				if diff := cmp.Diff(s.wantKept, kept); diff != "" {
					t.Errorf("%s -> %s of %s keeps (-want +got):\n%s", s.from, to, object, diff)
				}
			}
			if test.drops != nil {
				return
			}
			if err := test.suite(t).Check(t.Context(), slices.Values(objects)); err != nil {
				t.Error(err)
			}
		})
	}
}

func allCases() []engineCase {
	return slices.Concat(plainCases(), structureCases(), listCases(), valueCases(), hardCases(), elementCases())
}

func dropsOf(paths ...string) []hold.Drop {
	drops := make([]hold.Drop, 0, len(paths))
	for _, path := range paths {
		drops = append(drops, hold.Drop{From: "v1beta1", Path: path})
	}
	return drops
}

func plainCases() []engineCase {
	return []engineCase{
		{
			name: "the same on both sides", pair: pair{beta: "{spec: {a: string}}", v1: "{spec: {a: string}}"},
			samples: []sample{{from: "v1beta1", rest: `, "spec" : {"a":"x", "b" : 1.10}`, want: `, "spec" : {"a":"x", "b" : 1.10}`, wantKept: `{"v1beta1.spec.b":{"value":1.1}}`}},
		},
		{
			name: "a field of any type and one of a type, with fields of its own",
			pair: pair{
				beta: "{spec: {a: {b: string}, c: {d: string}}}", v1: "{spec: {any: any, some: any}}",
				rules: "- {spoke: .spec.a, hub: .spec.any}\n- {spoke: .spec.c, hub: .spec.some}\n- {spoke: .spec.c.d, hub: .spec.some.e}",
			},
			samples: []sample{
				{from: "v1", rest: `,"spec":{"any":"x","some":1}`, want: `,"spec":{}`, wantKept: `{"v1.spec.any":{"value":"x"},"v1.spec.some":{"value":1}}`},
				{from: "v1", rest: `,"spec":{"any":{"b":"x"},"some":{"e":"y"}}`, want: `,"spec":{"a":{"b":"x"},"c":{"d":"y"}}`},
			},
		},
		{
			name: "rename",
			pair: pair{beta: "{spec: {a: string, c: string}}", v1: "{spec: {b: string, c: string}}", rules: "- {spoke: .spec.a, hub: .spec.b}"},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"a":"x","c":"y"}`, want: `,"spec":{"c":"y","b":"x"}`},
				{from: "v1", rest: `,"spec":{"b":"x"}`, want: `,"spec":{"a":"x"}`},
				{from: "v1", rest: `,"spec":{}`, want: `,"spec":{}`},
				{from: "v1", rest: ``, want: ``},
				{from: "v1", rest: `,"spec":null`, want: `,"spec":null`},
				{from: "v1beta1", rest: `,"spec":{"a":null}`, want: `,"spec":{"b":null}`},
			},
		},
		{
			name: "swap",
			pair: pair{
				beta: "{spec: {a: string, b: string}}", v1: "{spec: {a: string, b: string}}",
				rules: "- {spoke: .spec.a, hub: .spec.b}\n- {spoke: .spec.b, hub: .spec.a}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"a":"x","b":"y"}`, want: `,"spec":{"b":"x","a":"y"}`},
				{from: "v1", rest: `,"spec":{"a":"x"}`, want: `,"spec":{"b":"x"}`},
			},
		},
		{
			name: "flatten and nest",
			pair: pair{
				beta: "{spec: {policy: {mode: string, max: integer}}}", v1: "{spec: {mode: string, limits: {max: integer}}}",
				rules: "- {spoke: .spec.policy.mode, hub: .spec.mode}\n- {spoke: .spec.policy.max, hub: .spec.limits.max}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"policy":{"mode":"x","max":3}}`, want: `,"spec":{"mode":"x","limits":{"max":3}}`},
				{from: "v1", rest: `,"spec":{"mode":"x"}`, want: `,"spec":{"policy":{"mode":"x"}}`},
				{from: "v1beta1", rest: `,"spec":{"policy":{}}`, want: `,"spec":{}`, wantKept: `{"v1beta1.spec.policy":{"value":{}}}`},
				{from: "v1", rest: `,"spec":{"mode":"x","limits":{}}`, want: `,"spec":{"policy":{"mode":"x"}}`, wantKept: `{"v1.spec.limits":{"value":{}}}`},
				{from: "v1beta1", rest: `,"spec":{"policy":null}`, want: `,"spec":{}`, wantKept: `{"v1beta1.spec.policy":{"value":null}}`},
			},
		},
		{
			name: "into objects side by side, in turns",
			pair: pair{
				beta: "{spec: {a: string, b: string, c: string, d: string}}",
				v1:   "{spec: {x: {a: string, c: string}, y: {b: string, d: string}}}",
				rules: "- {spoke: .spec.a, hub: .spec.x.a}\n- {spoke: .spec.b, hub: .spec.y.b}\n" +
					"- {spoke: .spec.c, hub: .spec.x.c}\n- {spoke: .spec.d, hub: .spec.y.d}",
			},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{"d":"4","c":"3","b":"2","a":"1"}`,
					want: `,"spec":{"x":{"a":"1","c":"3"},"y":{"b":"2","d":"4"}}`,
				},
				{from: "v1beta1", rest: `,"spec":{"b":"2","d":"4"}`, want: `,"spec":{"y":{"b":"2","d":"4"}}`},
			},
		},
		{
			name: "move out of an object that both have",
			pair: pair{
				beta: "{a: string, spec: {c: string}}", v1: "{spec: {a: string, c: string}}", rules: "- {spoke: .a, hub: .spec.a}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"a":"x","spec":{"c":"y"}`, want: `,"spec":{"c":"y","a":"x"}`},
				{from: "v1beta1", rest: `,"a":"x"`, want: `,"spec":{"a":"x"}`, wantKept: `{"v1beta1.spec":{"absent":true}}`},
				{from: "v1", rest: `,"spec":{"a":"x"}`, want: `,"spec":{},"a":"x"`},
				{from: "v1beta1", rest: `,"a":"x","spec":null`, want: `,"spec":null`, wantKept: `{"v1beta1.a":{"value":"x"}}`},
			},
		},
		{
			name: "unmapped",
			pair: pair{beta: "{spec: {a: string, o: {x: string, y: [integer]}}}", v1: "{spec: {b: string}}", rules: "- {spoke: .spec.a, hub: .spec.b}"},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{"a":"x","o":{"x":"1","y":[1,2]}}`, want: `,"spec":{"b":"x"}`,
					wantKept: `{"v1beta1.spec.o.x":{"in":1,"value":"1"},"v1beta1.spec.o.y":{"in":1,"value":[1,2]}}`,
				},
			},
		},
		{
			name: "labels and annotations",
			pair: pair{
				beta: "{spec: {a: string, l: string}}", v1: "{spec: {c: string}}",
				rules: "- {spoke: .spec.a, hub: '.metadata.annotations[\"x/y\"]'}\n- {spoke: .spec.l, hub: .metadata.labels.l}",
			},
			samples: []sample{
				{from: "v1", rest: `,"spec":{}`, want: `,"spec":{}`},
			},
		},
		{
			name: "a container moves with its contents",
			pair: pair{
				beta: "{spec: {old: {a: string, c: integer, z: string}}}", v1: "{spec: {new: {b: string, c: integer}}, z: string}",
				rules: "- {spoke: .spec.old, hub: .spec.new}\n- {spoke: .spec.old.a, hub: .spec.new.b}\n- {spoke: .spec.old.z, hub: .z}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"old":{"a":"x","c":1,"z":"q"}}`, want: `,"spec":{"new":{"c":1,"b":"x"}},"z":"q"`},
				{from: "v1", rest: `,"spec":{"new":{"b":"x","c":1}},"z":"q"`, want: `,"spec":{"old":{"c":1,"a":"x","z":"q"}}`},
				{from: "v1", rest: `,"spec":{"new":{}}`, want: `,"spec":{"old":{}}`},
			},
		},
	}
}

func structureCases() []engineCase {
	return []engineCase{
		{
			name: "types that differ",
			pair: pair{beta: "{spec: {p: intorstring, e: enum A B, n: 'string?'}}", v1: "{spec: {p: integer, e: enum A C, n: string}}"},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"p":1,"e":"A","n":"x"}`, want: `,"spec":{"p":1,"e":"A","n":"x"}`},
				{
					from: "v1beta1", rest: `,"spec":{"p":"10%","e":"B","n":null}`, want: `,"spec":{}`,
					wantKept: `{"v1beta1.spec.e":{"value":"B"},"v1beta1.spec.n":{"value":null},"v1beta1.spec.p":{"value":"10%"}}`,
				},
				{from: "v1", rest: `,"spec":{"p":1,"e":"C"}`, want: `,"spec":{"p":1}`, wantKept: `{"v1.spec.e":{"value":"C"}}`},
			},
		},
		{
			name: "unknown fields are admitted by one side",
			pair: pair{beta: "{spec: {o: {'+': any, a: string}}}", v1: "{spec: {o: {a: string, b: integer}}}"},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{"o":{"a":"x","b":1,"c":[1]}}`, want: `,"spec":{"o":{"a":"x","b":1}}`,
					wantKept: `{"v1beta1.spec.o.c":{"value":[1]}}`,
				},
				{from: "v1", rest: `,"spec":{"o":{"a":"x","b":1}}`, want: `,"spec":{"o":{"a":"x","b":1}}`},
			},
		},
		{
			name: "elements that differ",
			pair: pair{beta: "{l: [{name: string, a: string}, name]}", v1: "{l: [{name: string, b: string}, name]}"},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"l":[{"name":"x","a":"1"},{"name":"y","a":"2"}]`, want: `,"l":[{"name":"x"},{"name":"y"}]`,
					wantKept: `{"v1beta1.l.a--16covm7522fe0":{"path":["l",{"name":"y"},"a"],"value":"2"},"v1beta1.l.a--2dsgks45jv2rz":{"path":["l",{"name":"x"},"a"],"value":"1"}}`,
				},
			},
		},
		{
			name: "defaults",
			pair: pair{
				beta: "{spec: {a: string, c: string}}", v1: "{spec: {b: string, d: string}}",
				rules: "- {spoke: .spec.a, hub: .spec.b, defaultInHub: B, defaultInSpoke: A}\n- {spoke: .spec.c, hub: .spec.d, defaultInHub: D}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{}`, want: `,"spec":{"b":"B","d":"D"}`, wantKept: `{"v1beta1.spec.a":{"absent":true},"v1beta1.spec.c":{"absent":true}}`},
				{from: "v1beta1", rest: `,"spec":{"a":"1","c":"2"}`, want: `,"spec":{"b":"1","d":"2"}`},
				{from: "v1", rest: `,"spec":{}`, want: `,"spec":{"a":"A"}`, wantKept: `{"v1.spec.b":{"absent":true},"v1.spec.d":{"absent":true}}`},
				{from: "v1beta1", rest: ``, want: ``},
			},
		},
		{
			name: "places computed by one rule, some of them without a parent",
			pair: pair{
				beta: "{spec: {p: {a: string}, q: string}}",
				v1:   "{spec: {p: {a: string, x: string}, q: string, r: string, c: {deep: string}, b: string}}",
				rules: `- {hub: {x: .spec.p.x, r: .spec.r}, toHub: '{"x": "X", "r": "R"}'}` + "\n" +
					`- {hub: {a: .spec.c.deep, b: .spec.b}, toHub: '{"a": "A", "b": "B"}'}`,
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"q":"1"}`, want: `,"spec":{"q":"1","r":"R","b":"B"}`},
				{from: "v1beta1", rest: `,"spec":{"p":{}}`, want: `,"spec":{"p":{"x":"X"},"r":"R","b":"B"}`},
				{
					from: "v1", rest: `,"spec":{"r":"other","c":{}}`, want: `,"spec":{}`,
					wantKept: `{"v1.spec.b":{"absent":true},"v1.spec.c":{"value":{}},"v1.spec.r":{"value":"other"}}`,
				},
			},
		},
		{
			name: "dropped", drops: []hold.Drop{{From: "v1beta1", Path: ".spec.b"}, {From: "v1beta1", Path: ".l[].y"}},
			pair: pair{
				beta: "{spec: {a: string, b: string}, l: [{x: string, y: string}]}", v1: "{spec: {a: string}, l: [{x: string}]}",
				rules: "- {spoke: .spec.b, drop: it is of no use}\n- {spoke: '.l[].y', drop: as above}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"a":"x","b":"y"},"l":[{"x":"1","y":"2"}]`, want: `,"spec":{"a":"x"},"l":[{"x":"1"}]`},
			},
		},
	}
}

func listCases() []engineCase {
	return []engineCase{
		{
			name: "elements of a list that stays",
			pair: pair{
				beta: "{spec: {steps: [{weight: integer, k: string}]}}", v1: "{spec: {steps: [{traffic: integer, k: string}]}}",
				rules: "- {spoke: '.spec.steps[].weight', hub: '.spec.steps[].traffic'}",
			},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{"steps":[ {"weight":1,"k":"x"}, {"k":"y"}, {"weight":3} ]}`,
					want: `,"spec":{"steps":[ {"k":"x","traffic":1}, {"k":"y"}, {"traffic":3} ]}`,
				},
				{from: "v1", rest: `,"spec":{"steps":[{"traffic":1},null]}`, want: `,"spec":{"steps":[{"weight":1},null]}`},
			},
		},
		{
			name: "elements of a list that moves",
			pair: pair{
				beta: "{old: [{a: string, k: string}]}", v1: "{new: [{b: string, k: string}]}", rules: "- {spoke: '.old[].a', hub: '.new[].b'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"old":[{"a":"x","k":"1"},{}]`, want: `,"new":[{"k":"1","b":"x"},{}]`},
				{from: "v1", rest: `,"new":[]`, want: `,"old":[]`},
			},
		},
		{
			name: "wrapped scalars",
			pair: pair{beta: "{spec: {a: [string]}}", v1: "{spec: {b: [{name: string, x: integer}]}}", rules: "- {spoke: '.spec.a[]', hub: '.spec.b[].name'}"},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"a":["x","y"]}`, want: `,"spec":{"b":[{"name":"x"},{"name":"y"}]}`},
				{from: "v1", rest: `,"spec":{"b":[{"name":"x"},{"name":"y"}]}`, want: `,"spec":{"a":["x","y"]}`},
				{
					from: "v1", rest: `,"spec":{"b":[{"name":"x","x":1},{"name":"y"}]}`, want: `,"spec":{"a":["x","y"]}`,
					wantKept: `{"v1.spec.b":{"list":{"elements":{"0":{"kept":[{"path":["x"],"value":1}]}},"length":2}}}`,
				},
				{
					from: "v1", rest: `,"spec":{"b":[{"x":1},{"name":"y"}]}`, want: `,"spec":{"a":["y"]}`,
					wantKept: `{"v1.spec.b":{"list":{"added":[{"after":-1,"value":{"x":1}}],"length":1}}}`,
				},
			},
		},
		{
			name: "wrapped objects",
			pair: pair{
				beta: "{spec: {dataFrom: [{key: string, p: {x: string}}]}}",
				v1:   "{spec: {dataFrom: [{extract: {key: string, p: {x: string}}, find: {path: string}}]}}", rules: "- {spoke: '.spec.dataFrom[]', hub: '.spec.dataFrom[].extract'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"dataFrom":[{"key":"x"}]}`, want: `,"spec":{"dataFrom":[{"extract":{"key":"x"}}]}`},
				{
					from: "v1", rest: `,"spec":{"dataFrom":[{"extract":{"key":"x"},"find":{"path":"p"}}]}`, want: `,"spec":{"dataFrom":[{"key":"x"}]}`,
					wantKept: `{"v1.spec.dataFrom":{"list":{"elements":{"0":{"kept":[{"in":0,"path":["find","path"],"value":"p"}]}},"length":1}}}`,
				},
			},
		},
		{
			name: "map and list",
			pair: pair{
				beta: "{spec: {params: {'*': string}}}", v1: "{spec: {params: [{name: string, value: string, u: string}, name]}}",
				rules: "- {spoke: '.spec.params{name}', hub: '.spec.params[name].value'}",
			},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{"params":{"b":"2","a":"1"}}`,
					want: `,"spec":{"params":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`,
				},
				{from: "v1", rest: `,"spec":{"params":[{"name":"a","value":"1"},{"name":"b","value":"2"}]}`, want: `,"spec":{"params":{"a":"1","b":"2"}}`},
				{
					from: "v1", rest: `,"spec":{"params":[{"name":"a","value":"1","u":"x"}]}`, want: `,"spec":{"params":{"a":"1"}}`,
					wantKept: `{"v1.spec.params.u--3fei183bht4bf":{"path":["spec","params",{"name":"a"},"u"],"value":"x"}}`,
				},
				{
					from: "v1", rest: `,"spec":{"params":[{"name":"b","value":"1"},{"name":"a","value":"2"}]}`, want: `,"spec":{"params":{"b":"1","a":"2"}}`,
					wantKept: `{"v1.spec.params":{"order":[{"name":"b"},{"name":"a"}]}}`,
				},
			},
		},
		{
			name: "map of objects and list",
			pair: pair{
				beta: "{m: {'*': {a: string, c: string}}}", v1: "{l: [{name: string, b: string, c: string}, name]}",
				rules: "- {spoke: '.m{name}.a', hub: '.l[name].b'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"m":{"x":{"a":"1","c":"2"},"y":{}}`, want: `,"l":[{"name":"x","c":"2","b":"1"},{"name":"y"}]`},
			},
		},
		{
			name: "values of a map",
			pair: pair{beta: "{m: {'*': {a: string}}}", v1: "{m: {'*': {b: string}}}", rules: "- {spoke: '.m{}.a', hub: '.m{}.b'}"},
			samples: []sample{
				{from: "v1beta1", rest: `,"m":{"x":{"a":"1"},"y":{}}`, want: `,"m":{"x":{"b":"1"},"y":{}}`},
			},
		},
		{
			name: "picked element",
			pair: pair{
				beta: "{spec: {type: string}}", v1: "{spec: {attributes: [{name: string, value: string}]}}",
				rules: "- {spoke: .spec.type, hub: '.spec.attributes[name=type].value'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"type":"x"}`, want: `,"spec":{"attributes":[{"name":"type","value":"x"}]}`},
				{from: "v1", rest: `,"spec":{"attributes":[{"name":"type","value":"x"}]}`, want: `,"spec":{"type":"x"}`},
				{
					from: "v1", rest: `,"spec":{"attributes":[{"name":"o"},{"name":"type","value":"x"}]}`, want: `,"spec":{"type":"x"}`,
					wantKept: `{"v1.spec.attributes":{"order":[{"name":"o"},{"name":"type"}]},"v1.spec.attributes--1yde3cefoj5oj":{"in":1,"path":["spec","attributes",{"name":"o"}],"value":{}}}`,
				},
			},
		},
		{
			name: "picked element of a list that both have",
			pair: pair{
				beta: "{type: string, env: [{name: string, value: string}]}", v1: "{env: [{name: string, value: string}]}",
				rules: "- {spoke: .type, hub: '.env[name=type].value'}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"type":"x","env":[{"name":"a"}]`, want: `,"env":[{"name":"a"},{"name":"type","value":"x"}]`},
				{from: "v1beta1", rest: `,"type":"x","env":[{"name":"type"}]`, want: `,"env":[{"name":"type","value":"x"}]`, wantKept: `{"v1beta1.env":{"list":{"added":[{"after":-1,"value":{"name":"type"}}],"length":0}}}`},
				{
					from: "v1", rest: `,"env":[{"name":"type","value":"x"},{"name":"b"}]`, want: `,"env":[{"name":"b"}],"type":"x"`,
					wantKept: `{"v1.env":{"order":[{"name":"type"},{"name":"b"}]}}`,
				},
			},
		},
		{
			name: "singleton list",
			pair: pair{beta: "{spec: {o: {a: string}}}", v1: "{spec: {l: [{a: string}]}}", rules: "- {spoke: .spec.o, hub: '.spec.l[0]'}"},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"o":{"a":"x"}}`, want: `,"spec":{"l":[{"a":"x"}]}`},
				{from: "v1", rest: `,"spec":{"l":[{"a":"x"}]}`, want: `,"spec":{"o":{"a":"x"}}`},
				{from: "v1", rest: `,"spec":{"l":[{"a":"x"},{}]}`, want: `,"spec":{"o":{"a":"x"}}`, wantKept: `{"v1.spec.l":{"list":{"added":[{"after":0,"value":{}}],"elements":{"0":{}},"length":1}}}`},
			},
		},
		{
			name: "recursion",
			pair: pair{
				beta: "{tree: {a: string, kids: [{a: string, kids: [{a: string}]}]}}", v1: "{root: {b: string, kids: [{b: string, kids: [{b: string}]}]}}",
				rules: "- {spoke: .tree, hub: .root, use: Node}", sets: "Node:\n- {spoke: .a, hub: .b}\n- {spoke: '.kids[]', hub: '.kids[]', use: Node}",
			},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"tree":{"a":"1","kids":[{"a":"2"},{"kids":[{"a":"3"}]}]}`,
					want: `,"root":{"kids":[{"b":"2"},{"kids":[{"b":"3"}]}],"b":"1"}`,
				},
			},
		},
	}
}

func valueCases() []engineCase {
	return []engineCase{
		{
			name: "enum n:1",
			pair: pair{
				beta: "{mode: enum All None Manual}", v1: "{mode: enum Apply Preview}",
				rules: "- {spoke: .mode, hub: .mode, values: {All: Apply, None: Preview, Manual: Preview}}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"mode":"All"`, want: `,"mode":"Apply"`},
				{from: "v1beta1", rest: `,"mode":"None"`, want: `,"mode":"Preview"`},
				{from: "v1beta1", rest: `,"mode":"Manual"`, want: `,"mode":"Preview"`, wantKept: `{"v1beta1.mode":{"value":"Manual"}}`},
				{from: "v1beta1", rest: `,"mode":"other"`, want: ``, wantKept: `{"v1beta1.mode":{"value":"other"}}`},
			},
		},
		{
			name: "values that are numbers, in another spelling than the API server's",
			pair: pair{
				beta: "{spec: {mode: enum low high}}", v1: "{spec: {weight: number}}",
				rules: "- {spoke: .spec.mode, hub: .spec.weight, values: {low: 0.50, high: 1.0}}",
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"mode":"low"}`, want: `,"spec":{"weight":0.5}`},
				{from: "v1beta1", rest: `,"spec":{"mode":"high"}`, want: `,"spec":{"weight":1}`},
				{from: "v1", rest: `,"spec":{"weight":0.5}`, want: `,"spec":{"mode":"low"}`},
				{from: "v1", rest: `,"spec":{"weight":1}`, want: `,"spec":{"mode":"high"}`},
				{from: "v1", rest: `,"spec":{"weight":2}`, want: `,"spec":{}`, wantKept: `{"v1.spec.weight":{"value":2}}`},
			},
		},
		{
			name: "defaults that are numbers, in another spelling than the API server's",
			pair: pair{
				beta: "{spec: {a: number, c: {'+': any}}}", v1: "{spec: {b: number, d: {'+': any}}}",
				rules: "- {spoke: .spec.a, hub: .spec.b, defaultInSpoke: 1e3, defaultInHub: 1.0}\n" +
					"- {spoke: .spec.c, hub: .spec.d, defaultInSpoke: {x: [2.50]}, defaultInHub: {y: {z: 1E1}}}",
			},
			samples: []sample{
				{
					from: "v1beta1", rest: `,"spec":{}`, want: `,"spec":{"b":1,"d":{"y":{"z":10}}}`,
					wantKept: `{"v1beta1.spec.a":{"absent":true},"v1beta1.spec.c":{"absent":true}}`,
				},
				{
					from: "v1", rest: `,"spec":{}`, want: `,"spec":{"a":1000,"c":{"x":[2.5]}}`,
					wantKept: `{"v1.spec.b":{"absent":true},"v1.spec.d":{"absent":true}}`,
				},
			},
		},
		{
			name: "template",
			pair: pair{
				beta: "{hostPort: string}", v1: "{host: string, port: string}",
				rules: `- {spoke: .hostPort, hub: {host: .host, port: .port}, template: "{host}:{port}"}`,
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"hostPort":"localhost:80"`, want: `,"host":"localhost","port":"80"`},
				{from: "v1beta1", rest: `,"hostPort":"localhost"`, want: ``, wantKept: `{"v1beta1.hostPort":{"value":"localhost"}}`},
				{from: "v1", rest: `,"host":"h"`, want: ``, wantKept: `{"v1.host":{"value":"h"}}`},
			},
		},
		{
			name: "kubebuilder's CronJob",
			pair: pair{
				beta: "{spec: {schedule: {minute: string, hour: string, dayOfMonth: string, month: string, dayOfWeek: string}}}",
				v1:   "{spec: {schedule: string}}",
				rules: `- spoke: {minute: .spec.schedule.minute, hour: .spec.schedule.hour, dom: .spec.schedule.dayOfMonth, month: .spec.schedule.month, dow: .spec.schedule.dayOfWeek}
  hub: .spec.schedule
  template: "{minute} {hour} {dom} {month} {dow}"
  absent: "*"`,
			},
			samples: []sample{
				{from: "v1", rest: `,"spec":{"schedule":"*/5 * * * 1"}`, want: `,"spec":{"schedule":{"minute":"*/5","dayOfWeek":"1"}}`},
				{from: "v1", rest: `,"spec":{"schedule":"@daily"}`, want: `,"spec":{}`, wantKept: `{"v1.spec.schedule":{"value":"@daily"}}`},
				{from: "v1beta1", rest: `,"spec":{"schedule":{"hour":"3"}}`, want: `,"spec":{"schedule":"* 3 * * *"}`},
			},
		},
		{
			name: "CEL per element",
			pair: pair{
				beta: "{spec: {steps: [{weight: integer, p: integer}]}}", v1: "{spec: {steps: [{traffic: string, p: integer}]}}",
				rules: `- {spoke: ".spec.steps[].weight", hub: ".spec.steps[].traffic", toHub: 'string(self) + "%"', toSpoke: 'int(self.replace("%", ""))'}`,
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"steps":[{"weight":5},{"p":1}]}`, want: `,"spec":{"steps":[{"traffic":"5%"},{"p":1}]}`},
				{
					from: "v1", rest: `,"spec":{"steps":[{"traffic":"5%"},{"traffic":"7"},{"traffic":"x"}]}`,
					want:     `,"spec":{"steps":[{"weight":5},{"weight":7},{}]}`,
					wantKept: `{"v1.spec.steps":{"list":{"elements":{"1":{"kept":[{"path":["traffic"],"value":"7"}]},"2":{"kept":[{"path":["traffic"],"value":"x"}]}},"length":3}}}`,
				},
			},
		},
		{
			name: "two fields become one",
			pair: pair{
				beta: "{spec: {minReplicas: integer, autoscaler: {minReplicas: integer}}}", v1: "{spec: {autoscaler: {minReplicas: integer}}}",
				rules: `- spoke: {old: .spec.minReplicas, new: .spec.autoscaler.minReplicas}
  hub: .spec.autoscaler.minReplicas
  toHub: "self.?new.or(self.?old)"
  toSpoke: '{"new": self}'`,
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"autoscaler":{"minReplicas":2}}`, want: `,"spec":{"autoscaler":{"minReplicas":2}}`},
				{
					from: "v1beta1", rest: `,"spec":{"minReplicas":1,"autoscaler":{"minReplicas":2}}`, want: `,"spec":{"autoscaler":{"minReplicas":2}}`,
					wantKept: `{"v1beta1.spec.minReplicas":{"value":1}}`,
				},
				{
					from: "v1beta1", rest: `,"spec":{"minReplicas":1}`, want: `,"spec":{"autoscaler":{"minReplicas":1}}`,
					wantKept: `{"v1beta1.spec.autoscaler":{"absent":true},"v1beta1.spec.autoscaler.minReplicas":{"absent":true},"v1beta1.spec.minReplicas":{"value":1}}`,
				},
			},
		},
		{
			name: "union with guards",
			pair: pair{
				beta: "{git: string, svn: string}", v1: "{type: string, source: string}",
				rules: `- {spoke: .git, hub: .source, whenToHub: "true", whenToSpoke: 'object.type == "git"'}
- {spoke: .svn, hub: .source, whenToHub: '!has(object.git)', whenToSpoke: 'object.type == "svn"'}`,
			},
			samples: []sample{
				{from: "v1", rest: `,"type":"svn","source":"x"`, want: `,"svn":"x"`, wantKept: `{"v1.type":{"value":"svn"}}`},
				{from: "v1beta1", rest: `,"svn":"x"`, want: `,"source":"x"`, wantKept: `{"v1beta1.svn":{"value":"x"}}`},
				{from: "v1beta1", rest: `,"svn":"x","git":"y"`, want: `,"source":"y"`, wantKept: `{"v1beta1.git":{"value":"y"},"v1beta1.svn":{"value":"x"}}`},
			},
		},
		{
			name: "computed from the object",
			pair: pair{
				beta: "{spec: {a: string}}", v1: "{spec: {a: string, b: string}}",
				rules: `- {hub: .spec.b, toHub: 'object.spec.a + "!"'}`,
			},
			samples: []sample{
				{from: "v1beta1", rest: `,"spec":{"a":"x"}`, want: `,"spec":{"a":"x","b":"x!"}`},
				{from: "v1", rest: `,"spec":{"a":"x","b":"x!"}`, want: `,"spec":{"a":"x"}`},
				{from: "v1", rest: `,"spec":{"a":"x","b":"other"}`, want: `,"spec":{"a":"x"}`, wantKept: `{"v1.spec.b":{"value":"other"}}`},
				{from: "v1", rest: `,"spec":{"a":"x"}`, want: `,"spec":{"a":"x"}`, wantKept: `{"v1.spec.b":{"absent":true}}`},
			},
		},
		{
			name: "YAML", pair: pair{beta: "{config: string}", v1: "{config: any}", rules: "- {spoke: .config, hub: .config, codec: YAML}"},
			samples: []sample{
				{from: "v1", rest: `,"config":{"a":[1,{"b":null}]}`, want: `,"config":"a:\u000a- 1\u000a- b: null\u000a"`},
				{from: "v1beta1", rest: `,"config":"a: 1 # one"`, want: `,"config":{"a":1}`, wantKept: `{"v1beta1.config":{"value":"a: 1 # one"}}`},
			},
		},
	}
}
