package review_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// The names that identify an object have at most 1 KiB, in any spelling; a longer one fails with
// its path, and is not quoted.
func TestLongNamesOfObjects(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("x", 1<<10)
	long := longest + "y"
	escaped := strings.Repeat(`\u0078`, 1<<10)
	inMetadata := func(member string) string {
		return widget(`"metadata":{"name":"a","namespace":"default",` + member + `}`)
	}
	const named = "objects[0] Widget default/a v1beta1 -> v1: "
	tests := map[string]struct {
		object string
		want   string // part of the message; empty: success
	}{
		"apiVersion":              {`{"apiVersion":"example.com/` + long + `","kind":"Widget"}`, "objects[0] Widget: longer than 1024 bytes, set it to GROUP/VERSION: .apiVersion"},
		"apiVersion, a long list": {`{"apiVersion":["` + long + `"],"kind":"Widget"}`, "objects[0] Widget: object without a version, set it to GROUP/VERSION: .apiVersion"},
		"kind":                    {`{"apiVersion":"example.com/v1beta1","kind":"` + long + `"}`, "objects[0] v1beta1 -> v1: longer than 1024 bytes, set it to the kind: .kind"},
		"name":                    {widget(`"metadata":{"name":"` + long + `"}`), "objects[0] Widget v1beta1 -> v1: longer than 1024 bytes, shorten it: .metadata.name"},
		"namespace":               {widget(`"metadata":{"name":"a","namespace":"` + long + `"}`), "objects[0] Widget a v1beta1 -> v1: longer than 1024 bytes, shorten it: .metadata.namespace"},
		"uid":                     {inMetadata(`"uid":"` + long + `"`), named + "longer than 1024 bytes, shorten it: .metadata.uid"},
		"uid in escapes":          {inMetadata(`"uid":"` + escaped + `y"`), named + "longer than 1024 bytes, shorten it: .metadata.uid"},
		"longest uid":             {inMetadata(`"uid":"` + longest + `"`), ""},
		"longest uid, in escapes": {inMetadata(`"uid":"` + escaped + `"`), ""},
		"resourceVersion, its name in escapes": {
			inMetadata(`"resource\u0056ersion":"` + long + `"`), named + "longer than 1024 bytes, shorten it: .metadata.resourceVersion",
		},
		"unknown member":   {inMetadata(`"a b":"` + long + `"`), named + `longer than 1024 bytes, shorten it: .metadata["a b"]`},
		"annotation":       {inMetadata(`"annotations":{"a":"` + long + `"}`), ""},
		"finalizer":        {inMetadata(`"finalizers":["` + long + `"]`), ""},
		"spec":             {widget(`"metadata":{}`, `"spec":"`+long+`"`), ""},
		"name of a member": {widget(`"metadata":{}`, `"`+long+`":1`), "objects[0]: name longer than 1024 bytes: byte 236: .request.objects[0]"},
		"name of a member of metadata": {
			widget(`"metadata":{"` + long + `":1}`), "objects[0]: name longer than 1024 bytes: byte 234: .request.objects[0]",
		},
		"name of a member of spec": {widget(`"metadata":{}`, `"spec":{"`+long+`":1}`), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for version, object := range map[string]string{"old": tt.object, "current": strings.Replace(tt.object, "v1beta1", "v1", 1)} {
				got := ask(t, newReviewer(t, nothing, review.Hooks{}), request(object))
				if tt.want == "" {
					got.wantObjects(t, strings.Replace(object, "v1beta1", "v1", 1))
				} else if got.wantFailed(t); version == "old" && got.message != tt.want || strings.Contains(got.message, longest) {
					t.Errorf("message %q, want %q", got.message, tt.want)
				}
			}
		})
	}
}

// Long strings in the envelope or in metadata are not copied: not to refuse them, to hash them for
// the log, or to compare them after a converter has edited metadata.
func TestLongTextsAreNotCopied(t *testing.T) {
	const size = 4 << 20
	long := strings.Repeat("f", size)
	label := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		return obj.Set(raw(`"x"`), "metadata", "labels", "l")
	}
	for name, body := range map[string][]byte{
		"uid":               withRequest(`"uid":"`+long+`"`, desiredPart, objectsPart),
		"uid in escapes":    withRequest(`"uid":"\n`+long+`"`, desiredPart, objectsPart),
		"review version":    members(kindPart, `"apiVersion":"`+long+`"`, requestPart),
		"kind of review":    members(`"kind":"`+long+`"`, versionPart, requestPart),
		"desiredAPIVersion": withRequest(uidPart, `"desiredAPIVersion":"`+long+`"`, `"objects":[`+named("a")+`]`),
		"member":            members(kindPart, versionPart, requestPart, `"\n`+long+`":1`),
		"apiVersion":        request(`{"apiVersion":"` + long + `","kind":"Widget"}`),
		"kind":              request(`{"apiVersion":"example.com/v1beta1","kind":"` + long + `"}`),
		"name":              request(widget(`"metadata":{"name":"` + long + `"}`)),
		"member of object":  request(widget(`"metadata":{}`, `"\n`+long+`":1`)),
		"metadata":          request(widget(`"metadata":{"name":"a","finalizers":["` + long + `"],"annotations":{"` + long + `":""}}`)),
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewer(t, label, counters())
			dst := make([]byte, 0, 3*size)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _ = r.Review(t.Context(), dst, body)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > size/4 {
				t.Errorf("a review of %d bytes allocates %d bytes", len(body), took)
			}
		})
	}
}
