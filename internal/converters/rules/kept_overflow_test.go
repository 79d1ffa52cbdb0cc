package rules_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// K6: all annotations of an object may have 256 KiB, and kept values have no further limit. If they
// do not fit, only this object has an error, which says what to do about it.
func TestWhatFitsIntoAnnotationsIsKept(t *testing.T) {
	t.Parallel()
	rows{
		"more than half of what there is room for": {world: owned(), steps: []step{
			create("v1", `{spec: {owner: `+noise(150<<10)+`}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {note: x, owner: `+noise(150<<10)+`}}`),
		}},
		"nearly all of it": {world: owned(), steps: []step{
			create("v1", `{spec: {owner: `+noise(255<<10)+`}}`), edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{spec: {note: x, owner: `+noise(255<<10)+`}}`),
		}},
		"next to what users have there": {world: owned(), steps: []step{
			create("v1", `{metadata: {annotations: {theirs: `+noise(100<<10)+`}}, spec: {owner: `+noise(150<<10)+`}}`),
			edit("v1beta1", `{spec: {note: x}}`),
			shows("v1", `{metadata: {annotations: {theirs: `+noise(100<<10)+`}}, spec: {note: x, owner: `+noise(150<<10)+`}}`),
		}},
		"of two versions": {world: relayOwned(), steps: []step{
			create("v1", `{spec: {owner: `+noise(100<<10)+`}}`), edit("v1alpha1", `{spec: {keeper: `+noise(100<<10)+`}}`),
			edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, owner: `+noise(100<<10)+`}}`),
			shows("v1alpha1", `{spec: {note: x, keeper: `+noise(100<<10)+`}}`),
		}},
		"users' annotations alone": {world: owned(), steps: []step{
			create("v1", `{metadata: {annotations: {theirs: `+noise(255<<10)+`}}, spec: {note: x}}`),
			shows("v1beta1", `{metadata: {annotations: {theirs: `+noise(255<<10)+`}}, spec: {note: x}}`),
		}},
		"what is too much is an error at the other version, and is there at its own": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{spec: {owner: `+noise(400<<10)+`}}`), refuses(".spec.owner"),
			shows("v1", `{spec: {owner: `+noise(400<<10)+`}}`),
		}},
		"what is too much next to what users have there": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{metadata: {annotations: {theirs: `+noise(250<<10)+`}}, spec: {owner: `+noise(30<<10)+`}}`),
			refuses(".spec.owner"),
			edit("v1", `{metadata: {annotations: {theirs: x}}}`), shows("v1beta1", `{metadata: {annotations: {theirs: x}}, spec: {}}`),
		}},
		"what is too much can be made smaller": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{spec: {owner: `+noise(400<<10)+`}}`), edit("v1", `{spec: {owner: x}}`),
			edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, owner: x}}`),
		}},
		"too many of them": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{spec: {m: {`+entries(1000, noise(500))+`}}}`), refuses(".spec.m"),
		}},
		"too much in elements": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{spec: {l: [{name: n, big: `+noise(400<<10)+`}]}}`), refuses(".spec.l"),
		}},
		"too much in status": {world: owned(), storage: "v1", steps: []step{
			create("v1", `{spec: {}, status: {log: `+noise(400<<10)+`}}`), refuses(".status.log"),
		}},
	}.hold(t)
}

// At no size is an answer too big for the API server without an error.
func TestTheLimitOfAnnotationsIsThatOfTheAPIServer(t *testing.T) {
	t.Parallel()
	const limit = 256 << 10
	text := noise(limit)
	w := &walk{t: t, api: owned().crd(t), webhookd: owned().kind(t), storage: "v1"}
	kept, all := 0, 0
	for n := limit - 300; n <= limit; n += 20 {
		all++
		create("v1", `{spec: {owner: `+text[:n]+`}}`)(w)
		if _, err := w.tried(w.stored, "v1", "v1beta1"); err == nil { // tried looks at the limit as the API server does
			kept++
		}
	}
	if kept == 0 || kept == all {
		t.Errorf("%d of %d objects around the limit are converted, want some of them", kept, all)
	}
}

// refuses checks that the object cannot be read at v1beta1, and that the message names the fields
// and the version to edit it at. The message has no value and is short.
func refuses(paths ...string) step {
	return func(w *walk) {
		w.t.Helper()
		_, err := w.tried(w.stored, versionOf(w.stored), "v1beta1")
		if err == nil {
			w.t.Fatalf("step %d: no error at v1beta1", w.at)
		}
		text := strings.ReplaceAll(err.Error(), "v1beta1", "")
		for _, want := range append(paths, "v1") {
			if !strings.Contains(text, want) {
				w.t.Errorf("step %d: nothing about %s: %.1000v", w.at, want, err)
			}
		}
		if len(text) > 2000 || strings.Contains(text, noise(60)) {
			w.t.Errorf("step %d: %d bytes, starting with %.1000s", w.at, len(text), text)
		}
	}
}

// owned is a world in which v1 has fields that v1beta1 lacks.
func owned() world {
	return two("{spec: {note: string, l: [{name: string}, name]}}",
		"{spec: {note: string, owner: string, m: {'*': string}, l: [{name: string, big: string}, name]}, status: {log: string}}", "")
}

// relayOwned is a world of three versions, two of which have a field of their own.
func relayOwned() world {
	return world{schemas: map[string]string{
		"v1alpha1": "{spec: {note: string, keeper: string}}", "v1beta1": "{spec: {note: string}}", "v1": "{spec: {note: string, owner: string}}",
	}}
}

// noise is a text of n characters that cannot be compressed, the same each time.
func noise(n int) string {
	raw := make([]byte, n)
	if _, err := rand.NewChaCha8([32]byte{}).Read(raw); err != nil {
		panic(err) // it never fails
	}
	return "x" + base64.RawURLEncoding.EncodeToString(raw)[:n-1]
}

func entries(n int, value string) string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf("k%d: %s", i, value))
	}
	return strings.Join(all, ", ")
}
