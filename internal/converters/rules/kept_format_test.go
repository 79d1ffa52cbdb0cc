package rules_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keptAs checks that an annotation of a converted object has the documented format.
func (w *walk) keptAs(from, to, key, text string) {
	t := w.t
	t.Helper()
	prefix, name, _ := strings.Cut(key, "/")
	version, path, found := strings.Cut(name, ".")
	if !found || !slices.Contains(w.webhookd.Versions, version) || version == to {
		t.Fatalf("%s -> %s: the key of an annotation is not that of a version and a path: %s: %s", from, to, key, text)
	}
	if below := strings.HasPrefix(path, "status"); below != (prefix+"/" == statusPrefix) {
		t.Errorf("the prefix is not that of the path: %s", key)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil || compact.String() != text {
		t.Errorf("not compact JSON: %s: %s", key, text)
	}
	members := decodedJSON(t, text)
	says := 0
	for member, value := range members {
		switch member {
		case "value", "list", "order", "parts":
			says++
		case "absent":
			says++
			if value != true {
				t.Errorf("%s: %s", key, text)
			}
		case "inputs", "object":
			if value == "" || value == nil {
				t.Errorf("a digest of nothing is left out: %s: %s", key, text)
			}
		case "in":
			if n, ok := value.(float64); !ok || n < 0 || n != float64(int(n)) {
				t.Errorf("no number of steps: %s: %s", key, text)
			}
		case "path", "added":
		default:
			t.Errorf("a member that nothing reads: %s: %s", key, text)
		}
	}
	if says == 0 {
		t.Errorf("it says nothing: %s: %s", key, text)
	}
}

// There is an annotation for each leaf as server-side apply sees it: a manager that gives up a
// field gives up its annotation.
func TestEachLeafHasAnAnnotation(t *testing.T) {
	t.Parallel()
	w := two("{spec: {host: string, port: integer, applyMode: enum All None Manual, l: [{name: string}, name]}, status: {ready: boolean}}",
		"{spec: {host: string, port: string, mode: enum Apply Preview, owner: string, size: integer, box: {a: string, b: {c: integer}}, "+
			"m: {'*': string}, tags: [string], l: [{name: string, x: string, y: string}, name]}, status: {ready: boolean, phase: string}}", `
- {spoke: .spec.port, hub: .spec.port, codec: String, defaultInHub: "80"}
- {spoke: .spec.applyMode, hub: .spec.mode, values: {All: Apply, None: Preview, Manual: Preview}}`)
	for name, test := range map[string]struct {
		from, object string
		want         map[string]string // without prefix; "" for any text
	}{
		"nothing":      {"v1", `{spec: {host: a, port: "1"}}`, nil},
		"two fields":   {"v1", `{spec: {owner: ops, size: 5, port: "1"}}`, map[string]string{"v1.spec.owner": `{"value":"ops"}`, "v1.spec.size": `{"value":5}`}},
		"of an object": {"v1", `{spec: {box: {a: x, b: {c: 1}}, port: "1"}}`, map[string]string{"v1.spec.box.a": "", "v1.spec.box.b.c": ""}},
		"of a map":     {"v1", `{spec: {m: {k: x, j: y}, port: "1"}}`, map[string]string{"v1.spec.m.k": "", "v1.spec.m.j": ""}},
		"a list":       {"v1", `{spec: {tags: [x, y], port: "1"}}`, map[string]string{"v1.spec.tags": ""}},
		"of status":    {"v1", `{spec: {port: "1"}, status: {phase: Up}}`, map[string]string{"status/v1.status.phase": ""}},
		"one of two":   {"v1beta1", `{spec: {applyMode: Manual, port: 1}}`, map[string]string{"v1beta1.spec.applyMode": ""}},
		"none":         {"v1beta1", `{spec: {host: a}}`, map[string]string{"v1beta1.spec.port": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := keptOf(t, w, test.from, test.object)
			got, want := map[string]string{}, map[string]string{}
			for key, text := range test.want {
				prefix := specPrefix
				if rest, found := strings.CutPrefix(key, "status/"); found {
					prefix, key = statusPrefix, rest
				}
				want[prefix+key] = text
			}
			for key, text := range kept {
				if got[key] = text; want[key] == "" {
					got[key] = ""
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("kept of %s (-want +got):\n%s", test.object, diff)
			}
		})
	}
	fields := keptOf(t, w, "v1", `{spec: {port: "1", l: [{name: a, x: "1", y: "2"}, {name: b, x: "3"}, {name: c}]}}`)
	if len(fields) != 3 {
		t.Errorf("%d annotations of three fields of elements with keys: %v", len(fields), fields)
	}
	manual := decodedJSON(t, keptOf(t, w, "v1beta1", `{spec: {applyMode: Manual, port: 1}}`)[specPrefix+"v1beta1.spec.applyMode"]+" ")
	if inputs, _ := manual["inputs"].(string); manual["value"] != "Manual" || inputs == "" {
		t.Errorf("kept of a mode is %v, want its value and inputs", manual)
	}
	absent := decodedJSON(t, keptOf(t, w, "v1beta1", `{spec: {host: a}}`)[specPrefix+"v1beta1.spec.port"]+" ")
	if inputs, _ := absent["inputs"].(string); absent["absent"] != true || inputs == "" {
		t.Errorf("kept of what is absent is %v, want that it is, and a base", absent)
	}
}

// An object may have 200 annotations, but not thousands.
func TestManyLeavesAreGrouped(t *testing.T) {
	t.Parallel()
	w := two("{spec: {note: string}}", "{spec: {note: string, m: {'*': string}, l: [{name: string, x: string}, name]}}", "")
	for _, object := range []string{`{spec: {m: {` + entries(200, "x") + `}}}`, `{spec: {m: {` + entries(3000, "x") + `}}}`, elements(3000, "x: y")} {
		kept := keptOf(t, w, "v1", object)
		if len(kept) == 0 || len(kept) > 200 {
			t.Errorf("%d annotations for %.40s", len(kept), object)
		}
		row{world: w, steps: []step{create("v1", object), shows("v1", object)}}.walk(t, "v1beta1")
	}
}

// Whatever the path, a key is readable, valid and unique. An invalid one fails a whole LIST.
func TestOddPathsHaveKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("veryLongName", 6)
	w := two("{spec: {note: string}}", "{spec: {note: string, m: {'*': string}, "+long+": {a: string, b: string}, a: {b.c: string}, a.b: {c: string}, _x: string, "+
		"'ünï': string, '$ref': string, UPPER: string, upper: string}}", "")
	object := `{spec: {m: {"": "1", " ": "2", "a/b": "3", "a b": "4", "a_b": "5", "é": "6", "..": "7", "-": "8", "` + long + `1": "9", "` + long + `2": "10", "a.b": "11"},
		` + long + `: {a: "1", b: "2"}, a: {b.c: "1"}, a.b: {c: "2"}, _x: "3", "ünï": "4", "$ref": "5", UPPER: "6", upper: "7"}}`
	kept := keptOf(t, w, "v1", object)
	if len(kept) != 20 {
		t.Errorf("%d annotations of 20 leaves: %v", len(kept), slices.Sorted(maps.Keys(kept)))
	}
	row{world: w, steps: []step{create("v1", object), edit("v1beta1", `{spec: {note: null}}`), shows("v1", object)}}.walk(t, "v1beta1")
}

// The annotation of a leaf depends on its unit alone: no other edit changes it.
func TestAnAnnotationDependsOnItsUnitAlone(t *testing.T) {
	t.Parallel()
	w := two("{spec: {note: string, applyMode: enum All None Manual, l: [{name: string, n: integer}, name]}, status: {ready: boolean}}",
		"{spec: {note: string, mode: enum Apply Preview, owner: string, l: [{name: string, n: integer, x: string}, name]}, status: {ready: boolean}}",
		"- {spoke: .spec.applyMode, hub: .spec.mode, values: {All: Apply, None: Preview, Manual: Preview}}")
	for from, specs := range map[string][2]string{
		"v1": {
			`{spec: {owner: ops, l: [{name: a, x: y}]}}`,
			`{spec: {note: n, owner: ops, mode: Apply, l: [{name: b, n: 2}, {name: a, n: 1, x: y}]}, status: {ready: true}}`,
		},
		"v1beta1": {
			`{spec: {applyMode: Manual}}`, `{spec: {note: n, applyMode: Manual, l: [{name: b, n: 2}]}, status: {ready: true}}`,
		},
	} {
		first, second := keptOf(t, w, from, specs[0]), keptOf(t, w, from, specs[1])
		for key, text := range first {
			if second[key] != text {
				t.Errorf("%s is %s, and %s next to other fields", key, text, second[key])
			}
		}
		if len(first) == 0 {
			t.Error("nothing is kept")
		}
	}
}

// keptOf returns the annotations that an object of a version has at the other version.
func keptOf(t *testing.T, w world, from, object string) map[string]string {
	t.Helper()
	return keptIn(row{world: w, steps: []step{create(from, object)}}.walk(t, other(from)).stored)
}
