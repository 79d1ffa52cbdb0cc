package transform_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// readable is what expressions of the tests read: a spec with a field of each kind.
const readable = `s: {type: string}
i: {type: integer}
o: {type: object, properties: {p: {type: string}, q: {type: object, properties: {r: {type: string}, s: {type: integer}}}}}
"a-b": {type: string}
"a.b": {type: object, properties: {c: {type: string}}}
m: {type: object, additionalProperties: {type: string}}
mo: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: integer}}}}
l: {type: array, items: {type: string}}
lo: {type: array, items: {type: object, properties: {kind: {type: string}, name: {type: string}, "on": {type: boolean}, sub: {type: array, items: {type: object, properties: {x: {type: string}}}}}}}
any: {x-kubernetes-preserve-unknown-fields: true}
open: {type: object, x-kubernetes-preserve-unknown-fields: true}
self: {x-kubernetes-preserve-unknown-fields: true}
out: {x-kubernetes-preserve-unknown-fields: true}`

func TestReadsOfTheElement(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	for text, want := range map[string]string{
		`element.spec.s`:                  ".spec.s of the element",
		`has(element.spec.s) ? "a" : "b"`: "has(.spec.s) of the element",
		`element.spec.lo.filter(e, e.name == "x").size() > 1 ? "a":"b"`: ".spec.lo[].name of the element",
		`element.spec.s + object.spec.s`:                                ".spec.s, .spec.s of the element",
		`dyn(element) == dyn(self) ? "a" : "b"`:                         ". of the element",
		`[1].map(element, element).size() > 0 ? "a" : "b"`:              "",
	} {
		rule := parseRule(t, "{spoke: .spec.self, hub: .spec.out, toHub: '"+text+"', toSpoke: self}")
		root, _ := schemas{readable, readable}.parse(t)
		compiled, findings := transform.Compile(env, rule, [2][]*crdschema.Node{places(root, rule.Spoke), places(root, rule.Hub)},
			[2]*crdschema.Node{root, root}, [2]*transform.Element{{Node: root}, {Node: root}})
		if len(findings) > 0 {
			t.Errorf("%s: %s", text, render(findings))
			continue
		}
		got := make([]string, 0, len(compiled[0].Reads))
		for _, r := range compiled[0].Reads {
			place := transform.Read{Path: r.Path, Presence: r.Presence}.String()
			if r.Element {
				place += " of the element"
			}
			got = append(got, place)
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// readsTests are expressions and their reads.
func readsTests() map[string]string {
	return map[string]string{
		// Fields.
		`object.spec.s`:                                            ".spec.s",
		`object.spec.s == "x"`:                                     ".spec.s",
		`object.spec.s + object.spec.o.p`:                          ".spec.o.p .spec.s",
		`object.spec.o`:                                            ".spec.o",
		`object.spec.o.q.r == "" || object.spec.o.q.s > 1`:         ".spec.o.q.r .spec.o.q.s",
		`object.spec.o == object.spec.o && object.spec.o.p == "x"`: ".spec.o",
		"object.spec.`a-b`":                                        `.spec.a-b`,
		"object.spec.a__dash__b":                                   `.spec.a-b`,
		"object.spec.a__dot__b.c":                                  `.spec["a.b"].c`,
		"object.spec.`a.b`.c":                                      `.spec["a.b"].c`,
		`object`:                                                   ".",
		`object.spec`:                                              ".spec",
		`object == self`:                                           ".",
		`object.kind`:                                              ".kind",
		`metadata.name`:                                            ".metadata.name",
		`metadata`:                                                 ".metadata",
		`metadata.labels["x/y"]`:                                   `.metadata.labels["x/y"]`,
		`object.metadata.?labels[?"x"].orValue("")`:                ".metadata.labels.x",
		`"x" in metadata.annotations`:                              "has(.metadata.annotations.x)",
		`self`:                                                     "",
		`self.object.spec`:                                         "",
		`1 + 2`:                                                    "",
		`type(self) == string`:                                     "",
		`type(object.spec.any) == map`:                             ".spec.any",
		// Presence.
		`has(object.spec.s)`:                          "has(.spec.s)",
		`has(object.spec.o.q.r)`:                      "has(.spec.o.q.r)",
		`has(object.spec.s) ? object.spec.s : "x"`:    ".spec.s",
		`has(object.spec.o) && object.spec.o.p == ""`: ".spec.o.p",
		`!has(object.spec.s) && !has(object.spec.i)`:  "has(.spec.i) has(.spec.s)",
		`has(object.spec.open.a.b)`:                   "has(.spec.open.a.b)",
		`"k" in object.spec.m`:                        "has(.spec.m.k)",
		`self in object.spec.m`:                       "has(.spec.m{})",
		`object.spec.s in object.spec.m`:              ".spec.s has(.spec.m{})",
		`self in object.spec.l`:                       ".spec.l",
		`size(object.spec.l) > 0`:                     "has(.spec.l[])",
		`object.spec.m.size() > 0`:                    "has(.spec.m{})",
		`object.spec.s.size() > 0`:                    ".spec.s",
		`object.spec.any.size() > 0`:                  ".spec.any",
		`[object.spec.s].size()`:                      "has(.spec.s)",
		`object.spec.?s.hasValue()`:                   "has(.spec.s)",
		// Optional values.
		`object.spec.?s.orValue("x")`:                                 ".spec.s",
		`object.?spec.?o.?q.?r.orValue("x")`:                          ".spec.o.q.r",
		`object.spec.?s.or(object.spec.?o.?p).orValue("x")`:           ".spec.o.p .spec.s",
		`object.spec.?o.optMap(o, o.p).orValue("")`:                   ".spec.o.p",
		`object.spec.?o.optFlatMap(o, o.?p).orValue("")`:              ".spec.o.p",
		`optional.of(dyn(object.spec.o.q)).orValue({"r": "x"}).r`:     ".spec.o.q.r",
		`optional.of(object.spec.o).value().p`:                        ".spec.o.p",
		`optional.ofNonZeroValue(object.spec.o).?p`:                   ".spec.o",
		`[?object.spec.?s, "x"]`:                                      ".spec.s",
		`{?"a": object.spec.?s, "b": object.spec.i}`:                  ".spec.i .spec.s",
		`object.spec.?s == optional.of("x")`:                          ".spec.s",
		`self == "" ? optional.none() : optional.of(object.spec.o.q)`: ".spec.o.q",
		// Elements by index or key.
		`object.spec.m["k"]`:                              ".spec.m.k",
		`object.spec.m.k`:                                 ".spec.m.k",
		`object.spec.m["x/y"]`:                            `.spec.m["x/y"]`,
		`object.spec.m[self]`:                             ".spec.m",
		`object.spec.m[object.spec.s]`:                    ".spec.m .spec.s",
		`object.spec.mo[self].a`:                          ".spec.mo{}.a",
		`object.spec.mo[?self].?a`:                        ".spec.mo{}.a",
		`object.spec.l[0]`:                                ".spec.l[0]",
		`object.spec.lo[0].kind`:                          ".spec.lo[0].kind",
		`object.spec.lo[?0].?kind`:                        ".spec.lo[0].kind",
		`object.spec.lo[1].kind`:                          ".spec.lo[].kind",
		`object.spec.lo[object.spec.i].kind`:              ".spec.i .spec.lo[].kind",
		`object.spec.lo[0].kind + object.spec.lo[1].kind`: ".spec.lo[].kind",
		`object.spec.lo[size(object.spec.lo) - 1].kind`:   ".spec.lo[].kind",
		`object.spec.any["k"].x`:                          ".spec.any.k.x",
		`object.spec.any[1].x`:                            ".spec.any",
		`object.spec.any[self].x`:                         ".spec.any",
		`object.spec.any[1.0].x`:                          ".spec.any",
		`object.spec.any[true]`:                           ".spec.any",
		// Comprehensions.
		`object.spec.lo.exists(e, e.kind == "x")`:                                ".spec.lo[].kind",
		`object.spec.lo.all(e, has(e.kind))`:                                     "has(.spec.lo[].kind)",
		`object.spec.lo.exists_one(e, e.on)`:                                     ".spec.lo[].on",
		`object.spec.lo.exists(e, true)`:                                         "has(.spec.lo[])",
		`object.spec.lo.map(e, e.kind)`:                                          ".spec.lo[].kind",
		`object.spec.lo.map(e, e.on, e.name)`:                                    ".spec.lo[].name .spec.lo[].on",
		`object.spec.lo.filter(e, e.on)`:                                         ".spec.lo",
		`object.spec.lo.filter(e, e.on).size()`:                                  ".spec.lo[].on",
		`object.spec.lo.filter(e, e.on).map(e, e.name)`:                          ".spec.lo[].name .spec.lo[].on",
		`object.spec.lo.filter(e, e.on)[0].kind`:                                 ".spec.lo[].kind .spec.lo[].on",
		`object.spec.lo.map(e, e.sub).exists(i, i.exists(j, j.x == "y"))`:        ".spec.lo[].sub[].x",
		`object.spec.lo.exists(e, e.sub.exists(f, f.x == e.kind))`:               ".spec.lo[].kind .spec.lo[].sub[].x",
		`object.spec.lo.map(e, {"a": e.kind, "b": e.name}).map(e, e.a)`:          ".spec.lo[].kind .spec.lo[].name",
		`object.spec.lo.map(e, [e]).map(e, e[0].name)`:                           ".spec.lo[].name",
		`(object.spec.lo + object.spec.lo).exists(e, e.on)`:                      ".spec.lo[].on",
		`([dyn(object.spec.o)] + [{"p": "x"}]).map(e, e.p)`:                      ".spec.o.p",
		`object.spec.lo.sortBy(e, e.name).map(e, e.kind)`:                        ".spec.lo",
		`object.spec.m.exists(k, k == "x")`:                                      "has(.spec.m{})",
		`object.spec.m.exists(k, object.spec.m[k] == "x")`:                       ".spec.m",
		`object.spec.mo.exists(k, object.spec.mo[k].a == "x")`:                   ".spec.mo{}.a",
		`object.spec.mo.exists(k, v, v.a == k)`:                                  ".spec.mo{}.a",
		`object.spec.mo.transformList(k, v, v.b)`:                                ".spec.mo{}.b",
		`object.spec.mo.transformMap(k, v, v.b > 1, v.a)`:                        ".spec.mo{}.a .spec.mo{}.b",
		`object.spec.mo.transformMap(k, v, v).exists(k, v, v.b > 1)`:             ".spec.mo{}.b",
		`object.spec.mo.transformMapEntry(k, v, {v.a: v}).exists(k, v, v.b > 1)`: ".spec.mo{}.a .spec.mo{}.b",
		`object.spec.lo.transformMap(i, e, e.on)`:                                ".spec.lo[].on",
		`object.spec.lo.exists(i, e, i > 0 && e.on)`:                             ".spec.lo[].on",
		`object.spec.any.exists(e, e.x == 1)`:                                    ".spec.any",
		`object.spec.open.exists(k, k == "x")`:                                   "has(.spec.open{})",
		`object.spec.any.l.exists(e, e.x == 1)`:                                  ".spec.any.l",
		`dyn([object.spec.s]).exists(e, e == "x")`:                               ".spec.s",
		`[1, 2].exists(e, object.spec.l[e] == "x")`:                              ".spec.l",
		`self.exists(object, object == 1)`:                                       "",
		`self.exists(object, .object.spec.s == object)`:                          ".spec.s",
		`self.exists(e, object.spec.lo.exists(e, e.on))`:                         ".spec.lo[].on",
		`self.map(metadata, metadata.name)`:                                      "",
		`lists.range(3).map(i, object.spec.lo[i].on)`:                            ".spec.lo[].on",
		// Functions that hand on their arguments, and functions that read them.
		`(self == 1 ? object.spec.o.q : object.spec.any).r`:      ".spec.any.r .spec.o.q.r",
		`(object.spec.i == 1 ? object.spec.o : object.spec.o).p`: ".spec.i .spec.o.p",
		`dyn(object.spec.o).p`:                                   ".spec.o.p",
		`{"a": object.spec.o}.a.p`:                               ".spec.o.p",
		`[object.spec.o, object.spec.o][1].p`:                    ".spec.o.p",
		`{object.spec.s: object.spec.i}`:                         ".spec.i .spec.s",
		`object.spec.l.join(",")`:                                ".spec.l",
		`object.spec.l.slice(0, 1)`:                              ".spec.l",
		`[[object.spec.o]].flatten()[0].p`:                       ".spec.o",
		`sets.contains(object.spec.l, ["x"])`:                    ".spec.l",
		`"%s".format([object.spec.o.p])`:                         ".spec.o.p",
		`quantity(object.spec.s).isLessThan(quantity("1"))`:      ".spec.s",
		`object.spec.s.matches(object.spec.o.p)`:                 ".spec.o.p .spec.s",
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	for text, want := range readsTests() {
		rule := "{spoke: .spec.self, hub: .spec.out, toHub: '" + text + "', toSpoke: '" + text + "'}"
		compiled, findings := compile(t, env, schemas{readable, readable}, rule)
		if len(findings) > 0 {
			t.Errorf("%s: %s", text, render(findings))
			continue
		}
		for side, way := range compiled {
			if diff := cmp.Diff(want, readsText(way.Reads)); diff != "" {
				t.Errorf("%s, from side %d (-want +got):\n%s", text, side, diff)
			}
		}
	}
}

func readsText(reads []transform.Read) string {
	texts := make([]string, 0, len(reads))
	for _, r := range reads {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, " ")
}
