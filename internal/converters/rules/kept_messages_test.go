package rules_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Errors go into logs, and to users who may not read the object. They name fields of the schema and
// never quote user data: no value, no key of a map, no key of an element.
func TestErrorsQuoteNothingOfAnObject(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	full := noise(400 << 10)
	codec := "- {spoke: '.spec.m{}.t', hub: '.spec.m{}.s', codec: DurationSeconds}\n- {spoke: '.spec.l[name].t', hub: '.spec.l[name].s', codec: DurationSeconds}"
	w := two("{spec: {m: {'*': {t: string}}, l: [{name: string, t: string}, name], o: {'+': any}}}",
		"{spec: {m: {'*': {s: integer, big: string}}, l: [{name: string, s: integer, big: string}, name], o: {'+': any}, labels: {'*': string}, any: any}}", codec)
	boxes := boxWorld()
	for name, test := range map[string]struct {
		world

		at, object string
		fails      bool // else it may
	}{
		"too much below a key of a map":          {w, "v1", `,"spec":{"m":{"hunter2":{"big":"` + full + `"}}}`, true},
		"too much in an entry of a map":          {w, "v1", `,"spec":{"labels":{"hunter2":"` + full + `"}}`, true},
		"too much in an odd entry of a map":      {w, "v1", `,"spec":{"labels":{"hunter2/ü":"` + full + `"}}`, true},
		"too much in an element with a key":      {w, "v1", `,"spec":{"l":[{"name":"hunter2","big":"` + full + `"}]}`, true},
		"too much in a field that no schema has": {w, "v1", `,"spec":{"any":{"hunter2":"` + full + `"}}`, true},
		"too much in an unknown field":           {w, "v1", `,"spec":{"fresh":"` + full + `"}`, true},
		"too much in a text":                     {w, "v1", `,"spec":{"any":"hunter2` + full + `"}`, true},

		"a name that is repeated in a map":               {w, "v1beta1", `,"spec":{"m":{"hunter2":{"t":"1s"},"hunter2":{"t":"1s"}}}`, false},
		"a name that is repeated below a key of a map":   {w, "v1beta1", `,"spec":{"m":{"hunter2":{"t":"1s","t":"2s"}}}`, false},
		"a name that is repeated in an element":          {w, "v1beta1", `,"spec":{"l":[{"name":"hunter2","t":"1s","t":"2s"}]}`, false},
		"a name that is repeated where nothing is known": {w, "v1beta1", `,"spec":{"o":{"hunter2":1,"hunter2":2}}`, false},
		"a key that appears twice":                       {w, "v1beta1", `,"spec":{"l":[{"name":"hunter2"},{"name":"hunter2"}]}`, false},
		"a number that is none":                          {w, "v1", `,"spec":{"m":{"hunter2":{"s":1e999}}}`, false},
		"a value of another type":                        {w, "v1", `,"spec":{"m":{"hunter2":{"s":"hunter2"}},"l":[{"name":"hunter2","s":"hunter2"}]}`, false},

		"a value that a Go type does not take":      {boxes, "v1beta1", `,"spec":{"cover":{"color":{"hunter2":"x"}}}`, true},
		"an element that a Go type does not take":   {boxes, "v1beta1", `,"spec":{"items":["hunter2"]}`, true},
		"an unknown field next to a Go type":        {boxes, "v1beta1", `,"spec":{"lid":{"hunter2":"hunter2"},"items":[{"name":"hunter2","x":"hunter2"}]}`, false},
		"too much in an unknown field of a Go type": {boxes, "v1beta1", `,"spec":{"cover":{"fresh":"` + full + `"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obj, err := jsondoc.ParseObject([]byte(head(test.at, test.object)))
			if err == nil {
				err = test.kind(t).Convert(t.Context(), obj, test.at, other(test.at))
			}
			if err == nil && test.fails {
				t.Fatal("no error")
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), full[:40])) {
				t.Errorf("it quotes the object: %.500v", err)
			}
		})
	}
}
