package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Fields that only one version has survive an edit of other fields at the other version.
func TestEditsLeaveWhatTheOtherVersionCannotSay(t *testing.T) {
	t.Parallel()
	containers := pair{
		beta: "{spec: {image: string}}", v1: "{spec: {containers: [{name: string, image: string, x: string}, name]}}",
		rules: "- {spoke: .spec.image, hub: '.spec.containers[name=main].image'}",
	}
	wrapped := pair{
		beta: "{spec: {dataFrom: [{key: string}]}}", v1: "{spec: {dataFrom: [{extract: {key: string}, find: {path: string}}]}}",
		rules: "- {spoke: '.spec.dataFrom[]', hub: '.spec.dataFrom[].extract'}",
	}
	params := pair{
		beta: "{spec: {params: {'*': string}}}", v1: "{spec: {params: [{name: string, value: string, u: string}, name]}}",
		rules: "- {spoke: '.spec.params{name}', hub: '.spec.params[name].value'}",
	}
	first := pair{
		beta: "{spec: {provider: {a: string}}}", v1: "{spec: {providers: [{a: string, b: string}]}}",
		rules: "- {spoke: .spec.provider, hub: '.spec.providers[0]'}",
	}
	guarded := pair{
		beta: "{spec: {enabled: boolean, svc: {port: integer}}}", v1: "{spec: {service: {port: integer, ip: string}}}",
		rules: "- {spoke: .spec.svc, hub: .spec.service, whenToHub: 'object.?spec.?enabled.orValue(true)'}",
	}
	union := pair{
		beta: "{spec: {git: {url: string}, svn: {url: string}}}", v1: "{spec: {type: enum git svn, source: {url: string, rev: string}}}",
		rules: `
- {spoke: .spec.git, hub: .spec.source, whenToHub: '!has(object.spec.svn)', whenToSpoke: 'object.?spec.?type.orValue("git") == "git"'}
- {spoke: .spec.svn, hub: .spec.source, whenToHub: '!has(object.spec.git)', whenToSpoke: 'object.?spec.?type.orValue("") == "svn"'}
- {hub: .spec.type, toHub: 'has(object.spec.svn) ? "svn" : "git"'}`,
	}
	ports := pair{
		beta: "{spec: {ports: [{port: integer, protocol: string}, port, protocol]}}",
		v1:   "{spec: {ports: [{port: integer, protocol: string, app: string}, port, protocol]}}",
	}
	timed := pair{
		beta: "{spec: {m: {'*': {t: string}}}}", v1: "{spec: {l: [{n: string, s: integer, u: string}, n]}}",
		rules: "- {spoke: '.spec.m{n}.t', hub: '.spec.l[n].s', codec: DurationSeconds}",
	}
	same := pair{
		beta: "{spec: {on: boolean, src: {m: enum A B C}}}", v1: "{spec: {o: string, src: {m: enum A B, ip: string}}}",
		rules: `
- {spoke: .spec.src, hub: .spec.src, whenToHub: 'object.?spec.?on.orValue(true)'}
- {spoke: .spec.src.m, hub: .spec.src.m, values: {A: A, B: B, C: B}}`,
	}
	hiddenKey := pair{
		beta: "{spec: {ports: [{port: integer}, port]}}", v1: "{spec: {ports: [{port: integer, protocol: string, app: string}, port, protocol]}}",
	}
	nested := pair{
		beta:  "{spec: {dataFrom: [{keys: [{k: string}]}]}}",
		v1:    "{spec: {dataFrom: [{extract: {keys: [{k: string, h: string}]}, find: {path: string}}]}}",
		rules: "- {spoke: '.spec.dataFrom[]', hub: '.spec.dataFrom[].extract'}",
	}
	both := pair{
		beta: "{spec: {first: string, l: [string]}}", v1: "{spec: {l: [string]}}", rules: "- {spoke: .spec.first, hub: '.spec.l[0]'}",
	}
	keyless := pair{beta: "{spec: {l: [{a: string, n: integer}]}}", v1: "{spec: {l: [{a: string, n: integer, x: string}]}}"}
	betaKeys := pair{beta: "{spec: {l: [{id: string, n: integer}, id]}}", v1: "{spec: {l: [{name: string, n: integer, x: string}]}}"}
	betaKeys.rules = "- {spoke: '.spec.l[].id', hub: '.spec.l[].name'}"
	tag := func(pick string) pair {
		return pair{
			beta: "{spec: {tag: string}}", v1: "{spec: {containers: [{name: string, image: string, tag: string}]}}",
			rules: "- {spoke: .spec.tag, hub: '.spec.containers[" + pick + "].tag'}",
		}
	}
	tests := map[string]struct {
		pair
		v1       string // the spec there
		old, new string // the edit of its text at v1beta1
		want     string // the spec at v1 then; "" for the same
	}{
		"an element next to a picked one": {
			containers, `{"containers":[{"name":"main","image":"a:1"},{"name":"side","image":"s:1"}]}`, `a:1`, `a:2`,
			`{"containers":[{"name":"main","image":"a:2"},{"name":"side","image":"s:1"}]}`,
		},
		"and before it, and more of the picked one": {
			containers, `{"containers":[{"name":"side","x":"y"},{"name":"main","image":"a:1","x":"z"}]}`, `a:1`, `a:2`,
			`{"containers":[{"name":"side","x":"y"},{"name":"main","image":"a:2","x":"z"}]}`,
		},
		"when the picked one goes": {
			containers, `{"containers":[{"name":"main","image":"a:1"},{"name":"side","image":"s:1"}]}`, `"image":"a:1"`, ``,
			`{"containers":[{"name":"side","image":"s:1"}]}`,
		},
		"when a picked one comes": {
			containers, `{"containers":[{"name":"side","image":"s:1"}]}`, `"spec":{`, `"spec":{"image":"a:1"`,
			`{"containers":[{"name":"main","image":"a:1"},{"name":"side","image":"s:1"}]}`,
		},
		"elements that are not objects of the other version": {
			wrapped, `{"dataFrom":[{"find":{"path":"o"}},{"extract":{"key":"a"}},{"find":{"path":"p"}},{"extract":{"key":"b"}}]}`, `"b"`, `"c"`,
			`{"dataFrom":[{"find":{"path":"o"}},{"extract":{"key":"a"}},{"find":{"path":"p"}},{"extract":{"key":"c"}}]}`,
		},
		"when one is added between them": {
			wrapped, `{"dataFrom":[{"extract":{"key":"a"}},{"find":{"path":"p"}},{"extract":{"key":"b"}}]}`, `{"key":"b"}`, `{"key":"n"},{"key":"b"}`,
			`{"dataFrom":[{"extract":{"key":"a"}},{"find":{"path":"p"}},{"extract":{"key":"n"}},{"extract":{"key":"b"}}]}`,
		},
		"when one of them goes": {
			wrapped, `{"dataFrom":[{"extract":{"key":"a"},"find":{"path":"o"}},{"find":{"path":"p"}},{"extract":{"key":"b"},"find":{"path":"q"}}]}`,
			`{"key":"a"},`, ``, `{"dataFrom":[{"find":{"path":"p"}},{"extract":{"key":"b"},"find":{"path":"q"}}]}`,
		},
		"fields of list elements that are a map in another order": {
			params, `{"params":[{"name":"b","value":"1","u":"x"},{"name":"a","value":"2","u":"y"}]}`, `"2"`, `"3"`,
			`{"params":[{"name":"b","value":"1","u":"x"},{"name":"a","value":"3","u":"y"}]}`,
		},
		"of those that are left": {
			params, `{"params":[{"name":"b","value":"1","u":"x"},{"name":"a","value":"2","u":"y"}]}`, `,"a":"2"`, ``,
			`{"params":[{"name":"b","value":"1","u":"x"}]}`,
		},
		"of one that comes though it was there": {
			params, `{"params":[{"name":"b","value":"1","u":"x"},{"name":"a","u":"y"},{"name":"c","u":"z"}]}`, `"b":"1"`, `"b":"1","a":"2"`,
			`{"params":[{"name":"b","value":"1","u":"x"},{"name":"a","value":"2","u":"y"},{"name":"c","u":"z"}]}`,
		},
		"elements when one goes and another comes": {
			wrapped, `{"dataFrom":[{"extract":{"key":"a"},"find":{"path":"a"}},{"find":{"path":"f"}},{"extract":{"key":"b"},"find":{"path":"b"}},{"extract":{"key":"c"},"find":{"path":"c"}}]}`,
			`[{"key":"a"},{"key":"b"},{"key":"c"}]`, `[{"key":"b"},{"key":"c"},{"key":"n"}]`,
			`{"dataFrom":[{"find":{"path":"f"}},{"extract":{"key":"b"},"find":{"path":"b"}},{"extract":{"key":"c"},"find":{"path":"c"}},{"extract":{"key":"n"}}]}`,
		},
		"what is in lists in elements, but not of the edited one": {
			nested, `{"dataFrom":[{"extract":{"keys":[{"k":"1","h":"x"},{"k":"2","h":"y"}]}},{"find":{"path":"f"}}]}`, `"1"`, `"3"`,
			`{"dataFrom":[{"extract":{"keys":[{"k":"3"},{"k":"2","h":"y"}]}},{"find":{"path":"f"}}]}`,
		},
		"elements with two keys, one of them unknown": {
			hiddenKey, `{"ports":[{"port":80,"protocol":"TCP","app":"a"},{"port":443,"protocol":"TCP","app":"b"},{"port":53,"protocol":"UDP","app":"c"}]}`,
			`{"port":80},`, ``, `{"ports":[{"port":443,"protocol":"TCP","app":"b"},{"port":53,"protocol":"UDP","app":"c"}]}`,
		},
		"when the edit is spelt in a way that the other version does not know": {
			timed, `{"l":[{"n":"b","s":60,"u":"x"},{"n":"a","s":30,"u":"y"}]}`, `"1m0s"`, `"61s"`,
			`{"l":[{"n":"b","s":61,"u":"x"},{"n":"a","s":30,"u":"y"}]}`,
		},
		"when the edit makes no difference there": {
			same, `{"o":"o","src":{"m":"B","ip":"i"}}`, `"B"`, `"C"`, `{"o":"o","src":{"m":"B","ip":"i"}}`,
		},
		"elements behind the first": {
			first, `{"providers":[{"a":"1","b":"2"},{"a":"3","b":"4"}]}`, `"1"`, `"5"`, `{"providers":[{"a":"5","b":"2"},{"a":"3","b":"4"}]}`,
		},
		"fields next to one that a guard lets through": {
			guarded, `{"service":{"port":80,"ip":"10.0.0.1"}}`, `80`, `81`, `{"service":{"port":81,"ip":"10.0.0.1"}}`,
		},
		"fields of a union": {
			union, `{"type":"git","source":{"url":"u","rev":"main"}}`, `"u"`, `"v"`, `{"type":"git","source":{"url":"v","rev":"main"}}`,
		},
		"fields of another branch of it": {
			union, `{"type":"svn","source":{"url":"u","rev":"main"}}`, `"u"`, `"v"`, `{"type":"svn","source":{"url":"v","rev":"main"}}`,
		},
		"but not those of a branch that it was": {
			union, `{"type":"git","source":{"url":"u","rev":"main"}}`, `"git":{"url":"u"}`, `"svn":{"url":"v"}`, `{"type":"svn","source":{"url":"v"}}`,
		},
		"nor where the branches say the same": {
			union, `{"type":"git","source":{"url":"u","rev":"main"}}`, `"git"`, `"svn"`, `{"type":"svn","source":{"url":"u"}}`,
		},
		"the rest of an element when a field of it goes": {
			tag("name=a"), `{"containers":[{"name":"a","image":"i","tag":"t"},{"name":"b","image":"j"}]}`, `"tag":"t"`, ``,
			`{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}`,
		},
		"and when one comes": {
			tag("name=a"), `{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}]}`, `"spec":{`, `"spec":{"tag":"t"`,
			`{"containers":[{"name":"a","image":"i","tag":"t"},{"name":"b","image":"j"}]}`,
		},
		"but not an element without what it has to have": {
			pair{
				beta: "{spec: {image: string}}", v1: "{spec: {containers: [{name: string, image: string, x: string}, name, image]}}",
				rules: "- {spoke: .spec.image, hub: '.spec.containers[name=a].image'}",
			},
			`{"containers":[{"name":"a","image":"i","x":"y"},{"name":"b","image":"j"}]}`, `"image":"i"`, ``, `{"containers":[{"name":"b","image":"j"}]}`,
		},
		"the rest of the first element when a field of it goes": {
			tag("0"), `{"containers":[{"name":"a","image":"i","tag":"t"},{"name":"b","image":"j","tag":"u"}]}`, `"tag":"t"`, ``,
			`{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j","tag":"u"}]}`,
		},
		"and when one comes to it": {
			tag("0"), `{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j","tag":"u"}]}`, `"spec":{`, `"spec":{"tag":"t"`,
			`{"containers":[{"name":"a","image":"i","tag":"t"},{"name":"b","image":"j","tag":"u"}]}`,
		},
		"elements without keys when the first goes": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","n":1,"x":"Q"}]}`, `{"a":"p"},`, ``, `{"l":[{"a":"q","n":1,"x":"Q"}]}`,
		},
		"when one comes before them": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","n":1,"x":"Q"}]}`, `{"a":"p"}`, `{"a":"o"},{"a":"p"}`,
			`{"l":[{"a":"o"},{"a":"p","x":"P"},{"a":"q","n":1,"x":"Q"}]}`,
		},
		"when they are in another order, spelt in another way": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","n":1,"x":"Q"},{"a":"r","x":"R"}]}`, `{"a":"p"},{"a":"q","n":1},{"a":"r"}`,
			`{"a":"r"},{"n":1,"a":"\u0071"},{"a":"p"}`, `{"l":[{"a":"r","x":"R"},{"a":"q","n":1,"x":"Q"},{"a":"p","x":"P"}]}`,
		},
		"when one of them is edited in all that it shows and another one goes": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","x":"Q"},{"a":"r","x":"R"},{"a":"s","x":"S"}]}`, `{"a":"p"},{"a":"q"},{"a":"r"},{"a":"s"}`,
			`{"a":"t"},{"a":"q"},{"a":"s"}`, `{"l":[{"a":"t"},{"a":"q","x":"Q"},{"a":"s","x":"S"}]}`,
		},
		"when one of them is doubled": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","x":"Q"}]}`, `{"a":"p"}`, `{"a":"p"},{"a":"p"}`,
			`{"l":[{"a":"p","x":"P"},{"a":"p"},{"a":"q","x":"Q"}]}`,
		},
		"but not when all of them are edited in all that they show": {
			keyless, `{"l":[{"a":"p","x":"P"},{"a":"q","x":"Q"}]}`, `{"a":"p"},{"a":"q"}`, `{"a":"s"},{"a":"t"}`,
			`{"l":[{"a":"s"},{"a":"t"}]}`,
		},
		"of a list that has keys in the other version": {
			betaKeys, `{"l":[{"name":"p","n":1,"x":"P"},{"name":"q","n":2,"x":"Q"}]}`, `{"n":1,"id":"p"},{"n":2,"id":"q"}`,
			`{"id":"q","n":3},{"id":"p","n":4}`, `{"l":[{"n":3,"name":"q","x":"Q"},{"n":4,"name":"p","x":"P"}]}`,
		},
		"elements that are wrapped in another order": {
			wrapped, `{"dataFrom":[{"extract":{"key":"a"},"find":{"path":"o"}},{"extract":{"key":"b"},"find":{"path":"p"}},{"find":{"path":"q"}}]}`,
			`{"key":"a"},{"key":"b"}`, `{"key":"b"},{"key":"a"}`,
			`{"dataFrom":[{"extract":{"key":"b"},"find":{"path":"p"}},{"find":{"path":"q"}},{"extract":{"key":"a"},"find":{"path":"o"}}]}`,
		},
		"elements with two keys": {
			ports, `{"ports":[{"port":80,"protocol":"TCP","app":"http"},{"port":443,"protocol":"TCP","app":"https"}]}`,
			`{"port":80,"protocol":"TCP"},`, ``, `{"ports":[{"port":443,"protocol":"TCP","app":"https"}]}`,
		},
		"the rest of a list whose first is a field": {
			both, `{"l":["a","b","c"]}`, `"a"`, `"d"`, `{"l":["d","b","c"]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := test.kind(t)
			there := convert(t, kind, head("v1", `,"spec":`+test.v1), "v1", "v1beta1")
			at := strings.LastIndex(there, test.old) // the spec is behind the annotations
			if at < 0 {
				t.Fatalf("nothing to edit: %s", there)
			}
			back := convert(t, kind, there[:at]+test.new+there[at+len(test.old):], "v1beta1", "v1")
			if diff := cmp.Diff(decoded(t, test.want), specOf(t, back)); diff != "" {
				t.Errorf("-want +got:\n%s\nthere %s\nback %s", diff, there, back)
			}
		})
	}
}

// Both versions have the list, and one also has its first element separately.
func TestAFirstElementComesBeforeTheOthers(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {first: string, l: [string]}}", v1: "{spec: {l: [string]}}", rules: "- {spoke: .spec.first, hub: '.spec.l[0]'}",
	}.kind(t)
	for _, test := range []struct{ beta, v1 string }{
		{`{"first":"a","l":["b","c"]}`, `{"l":["a","b","c"]}`},
		{`{"first":"a"}`, `{"l":["a"]}`},
		{`{"first":"a","l":[]}`, `{"l":["a"]}`},
		{`{"l":["b","c"]}`, `{"l":["b","c"]}`},
		{`{"l":[]}`, `{"l":[]}`},
	} {
		there := convert(t, kind, head("v1beta1", `,"spec":`+test.beta), "v1beta1", "v1")
		back := convert(t, kind, there, "v1", "v1beta1")
		if diff := cmp.Diff(decoded(t, test.v1), specOf(t, there)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.beta, diff)
		}
		if diff := cmp.Diff(decoded(t, test.beta), specOf(t, back)); diff != "" {
			t.Errorf("%s: comes back: -want +got:\n%s", test.beta, diff)
		}
	}
}

// Each text repeats the one before it, so an edit of the first is one of all: they are given up one
// after the other.
func TestAnEditThatReachesFarLeavesOtherFields(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 9, 40} {
		all := func(format string, by string) string {
			var text strings.Builder
			for i := range n {
				fmt.Fprintf(&text, format, i, max(i-1, 0))
				text.WriteString(by)
			}
			return strings.TrimSuffix(text.String(), by)
		}
		kind := pair{
			beta: "{spec: {" + all("f%[1]d: string", ", ") + "}}", v1: "{spec: {keep: string, " + all("g%[1]d: string", ", ") + "}}",
			rules: all(`- {spoke: .spec.f%[1]d, hub: .spec.g%[1]d, toHub: 'self.split("/")[0]', `+
				`toSpoke: 'self.lowerAscii() + "/" + (%[1]d == 0 ? "" : object.?spec.?g%[2]d.orValue(""))'}`, "\n"),
		}.kind(t)
		object := convert(t, kind, head("v1", `,"spec":{"keep":"K",`+all(`"g%[1]d":"G"`, ",")+`}`), "v1", "v1beta1")
		back := convert(t, kind, edited(t, object, map[string]any{"f0": "x/"}), "v1beta1", "v1")
		if got := specOf(t, back); got["keep"] != "K" || got["g0"] != "x" {
			t.Errorf("%d rules: %s", n, back)
		}
	}
}

// Any client can write an annotation. Its content makes no conversion fail.
func TestForgedAnnotationsAreLeftOut(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {size: string, more: any}}", v1: "{spec: {size: integer, more: any}}",
		rules: "- {spoke: .spec.size, hub: .spec.size, toHub: int(self), toSpoke: 'string(self) + (has(object.spec.more.a) ? \"!\" : \"\")'}",
	}.kind(t)
	deep := strings.Repeat("[", 508) + strings.Repeat("]", 508)
	for _, annotations := range []string{
		`{"v1.spec.more":{"value":{"a":1,"a":2}}}`,
		`{"v1.spec.more":"{\"value\":{\"a\":1,\"a\":2}}"}`,
		`{"v1.spec.more.c":"{\"value\":{\"a\":1,\"a\":2}}"}`,
		`{"v1.spec.size":{"value":3},"v1.spec.more":{"absent":true}}`,
		`{"v1.spec.more":"{\"value\":` + deep + `}"}`,
		`{"v1.spec.size":{"value":5,"value":6}}`,
		`{"v1.spec.size":{"value":"text","base":""}}`,
		`{"v1.spec":{"value":{"size":7}}}`,
		`{"v1.spec":{"parts":[{"value":7,"path":["size"]},{"value":8,"path":["more","c"]}]}}`,
		`{"v1":{"spec":{"size":7}}}`,
		`{"v1.kind":{"value":"Other"},"v1.metadata.name":{"value":"other"},"v1.apiVersion":{"value":"v2"}}`,
	} {
		there := convert(t, kind, keptObject(t, "v1beta1", annotations, `,"spec":{"size":"3","more":{"c":4}}`), "v1beta1", "v1")
		if diff := cmp.Diff(decoded(t, `{"size":3,"more":{"c":4}}`), specOf(t, there)); diff != "" {
			t.Errorf("%.80s: -want +got:\n%s", annotations, diff)
		}
	}
}
