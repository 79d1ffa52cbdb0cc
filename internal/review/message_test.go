package review_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// failNamed fails for objects whose name starts with bad.
func failNamed(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	n, err := obj.Get("metadata", "name")
	if name, _ := n.Str(); err == nil && strings.HasPrefix(name, "bad") {
		err = errors.New("host and port are too much, keep one: .spec")
	}
	return err
}

// The message names every failed object and its reason.
func TestMessageNamesEveryFailingObject(t *testing.T) {
	t.Parallel()
	const reason = " v1beta1 -> v1: host and port are too much, keep one: .spec"
	tests := map[string]struct {
		objects []string
		want    string
	}{
		"one of one": {[]string{named("bad")}, "objects[0] Widget default/bad" + reason},
		"no namespace": {
			[]string{widget(`"metadata":{"name":"bad"}`)}, "objects[0] Widget bad" + reason,
		},
		"namespace without a name": {
			[]string{widget(`"metadata":{"namespace":"ns"},"metadata2":1`), `1`},
			"1 of 2 objects cannot be converted: objects[1]: is a number, not an object: .request.objects[1]",
		},
		"one of three": {
			[]string{named("a"), named("bad"), named("c")},
			"1 of 3 objects cannot be converted: objects[1] Widget default/bad" + reason,
		},
		"of each sort": {
			[]string{named("bad-1"), `null`, named("a"), `{"apiVersion":"example.com/v1","kind":"Widget"}`, `{"apiVersion":"a.io/v1beta1","kind":"W"}`, named("bad-2")},
			"4 of 6 objects cannot be converted: objects[0] Widget default/bad-1" + reason +
				"; objects[1]: is null, not an object: .request.objects[1]" +
				"; objects[4] W v1beta1 -> v1: group is not that of desiredAPIVersion, send objects of one group: .apiVersion" +
				"; objects[5] Widget default/bad-2" + reason,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, failNamed, review.Hooks{}), request(tt.objects...))
			got.wantFailed(t)
			if got.message != tt.want {
				t.Errorf("got  %s\nwant %s", got.message, tt.want)
			}
		})
	}
}

// A message has at most 1 KiB and then says how many objects it leaves out.
func TestMessageIsCapped(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 10, 11, 12, 100, 101, 5000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			objects := make([]string, 0, n)
			for i := range n {
				objects = append(objects, named(fmt.Sprintf("bad-%d", i)))
			}
			got := ask(t, newReviewer(t, failNamed, review.Hooks{}), request(objects...))
			got.wantFailed(t, fmt.Sprintf("%d of %d objects cannot be converted: objects[0] ", n, n))
			if len(got.message) > 1024+len("; and 1234 more") {
				t.Errorf("%d bytes: %s", len(got.message), got.message)
			}
			shown, more := strings.Count(got.message, "keep one: .spec"), 0
			if _, after, cut := strings.Cut(got.message, "; and "); cut {
				if _, err := fmt.Sscanf(after, "%d more", &more); err != nil {
					t.Error(err)
				}
			}
			if shown+more != n || shown < 2 || n > 12 && more == 0 {
				t.Errorf("%d objects are named and %d counted, of %d: %s", shown, more, n, got.message)
			}
		})
	}
}

// One long reason does not hide the next object.
func TestMessageSharesItsRoom(t *testing.T) {
	t.Parallel()
	long := func(context.Context, *jsondoc.Object, string, string) error {
		return errors.New(strings.Repeat("very ", 1<<20))
	}
	got := ask(t, newReviewer(t, long, review.Hooks{}), request(named("a"), named("b"), named("c")))
	got.wantFailed(t, "3 of 3", "objects[0] Widget default/a", "objects[1] Widget default/b", "objects[2] Widget default/c")
	if len(got.message) < 1000 {
		t.Errorf("%d bytes of 1024 are used", len(got.message))
	}
	got = ask(t, newReviewer(t, long, review.Hooks{}), request(named("a")))
	got.wantFailed(t, "objects[0] Widget default/a v1beta1 -> v1: very")
	if len(got.message) < 1000 {
		t.Errorf("%d bytes of 1024 are used", len(got.message))
	}
}

// Whatever the names in an object, the message is one line of printable text with the reason in it.
func TestMessageWithHostileNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<10-len("example.com/")-1) // one more byte would be refused
	always := converters.Func(func(context.Context, *jsondoc.Object, string, string) error { return errors.New("reason: .path") })
	tests := map[string]struct{ object, want string }{
		"terminal":       {widget(`"metadata":{"name":"\u001b[2J\u001b]0;x\u0007"}`), "objects[0] Widget ?[2J?]0;x? v1beta1 -> v1: reason: .path"},
		"lines":          {widget(`"metadata":{"name":"a\n{\"level\":\"error\"}\r\n"}`), `objects[0] Widget a?{"level":"error"}?? v1beta1 -> v1: reason: .path`},
		"NUL and DEL":    {widget("\"metadata\":{\"name\":\"\\u0000\x7f\"}"), "objects[0] Widget ?? v1"},
		"bidi override":  {widget(`"metadata":{"name":"a\u202eb\u2066\u200b"}`), "objects[0] Widget a?b?? v1"},
		"line separator": {widget(`"metadata":{"name":"a\u2028b"}`), "objects[0] Widget a?b v1"},
		"replacement":    {widget(`"metadata":{"name":"a\ufffd"}`), "objects[0] Widget a? v1"},
		"not ASCII":      {widget(`"metadata":{"name":"Grüße-😀"}`), "objects[0] Widget Grüße-😀 v1"},
		"long name":      {widget(`"metadata":{"name":"` + long + `"}`), "objects[0] Widget " + long[:253] + "... v1beta1 -> v1: reason: .path"},
		"long, of two-byte letters": {
			widget(`"metadata":{"name":"` + strings.Repeat("ü", 200) + `"}`),
			"objects[0] Widget " + strings.Repeat("ü", 126) + "... v1beta1",
		},
		"long namespace": {
			widget(`"metadata":{"name":"` + long + `","namespace":"` + long + `"}`),
			"objects[0] Widget " + long[:63] + ".../" + long[:253] + "... v1beta1 -> v1: reason: .path",
		},
		"long kind": {
			`{"apiVersion":"example.com/v1beta1","kind":"` + long + `"}`,
			"objects[0] " + long[:63] + "... v1beta1 -> v1: no converter for " + long[:63] + "....example.com, add",
		},
		"long version": {
			`{"apiVersion":"example.com/` + long + `","kind":"Widget"}`,
			"objects[0] Widget " + long[:63] + "... -> v1: no converter for version " + long[:63] + "..., use one of",
		},
		"names of other types": {widget(`"metadata":{"name":{"a":1},"namespace":[2]}`), "objects[0] Widget v1beta1 -> v1: reason: .path"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask(t, newReviewer(t, always, review.Hooks{}), request(tt.object)).wantFailed(t, tt.want)
		})
	}
	t.Run("desiredAPIVersion", func(t *testing.T) {
		t.Parallel()
		body := withRequest(uidPart, `"desiredAPIVersion":"example.com/\u001b`+long+`"`, `"objects":[`+named("a")+`]`)
		ask(t, newReviewer(t, always, review.Hooks{}), body).wantFailed(t, "no converter for version ?"+long[:62]+"..., use one of v1alpha1, v1beta1, v1: .request.desiredAPIVersion")
	})
}

// The same is true for whatever an error of a converter says.
func TestMessageWithHostileErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		want string
	}{
		"joined":        {errors.Join(errors.New("one: .a"), errors.New("two: .b")), ": one: .a; two: .b"},
		"terminal":      {errors.New("\x1b[31mred\r"), ": ?[31mred?"},
		"invalid UTF-8": {errors.New("a\xffb"), ": a?b"},
		"quotes":        {errors.New(`"a\b"</script>`), `: "a\b"</script>`},
		"empty":         {errors.New(""), "v1beta1 -> v1: "},
		"long":          {errors.New(strings.Repeat("x", 1<<20)), strings.Repeat("x", 900)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			convert := func(context.Context, *jsondoc.Object, string, string) error { return tt.err }
			ask(t, newReviewer(t, convert, review.Hooks{}), request(named("a"))).wantFailed(t, "objects[0] Widget default/a v1beta1 -> v1: ", tt.want)
		})
	}
}
