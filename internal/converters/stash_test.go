package converters_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/converters"
)

func TestTakeStash(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, object, rest, stash string
	}{
		{name: "no metadata", object: `{"a":1}`, rest: `{"a":1}`},
		{name: "null", object: `{"metadata":null}`, rest: `{"metadata":null}`},
		{name: "none", object: `{"metadata":{"annotations":{}}}`, rest: `{"metadata":{"annotations":{}}}`},
		{
			name:   "its own and a leftover",
			object: `{"metadata":{"annotations":{"conversion.webhookd.io/v1":"{\"a\":1}","conversion.webhookd.io/v2":"{}"}}}`,
			rest:   `{"metadata":{}}`, stash: `{"a":1}`,
		},
		{
			name:   "that of a third version stays",
			object: `{"metadata":{"annotations":{"conversion.webhookd.io/v3":"{}", "x":"y"}}}`,
			rest:   `{"metadata":{"annotations":{"conversion.webhookd.io/v3":"{}", "x":"y"}}}`,
		},
		{
			name:   "a name with escapes",
			object: `{"metadata":{"annotations":{"x":"y","\u0063onversion.webhookd.io\/v1":"{\"a\":1}"}}}`,
			rest:   `{"metadata":{"annotations":{"x":"y"}}}`, stash: `{"a":1}`,
		},
		{
			name:   "a name with escapes in each part",
			object: `{"metadata":{"annotations":{"x":"\u003c\u0026","conversion\u002e\u0077ebhookd\u002Eio/v1":"{\"a\":1}"}}}`,
			rest:   `{"metadata":{"annotations":{"x":"\u003c\u0026"}}}`, stash: `{"a":1}`,
		},
		{name: "malformed", object: `{"metadata":{"annotations":{"conversion.webhookd.io/v1":"{"}}}`, rest: `{"metadata":{}}`},
		{name: "no object", object: `{"metadata":{"annotations":{"conversion.webhookd.io/v1":"[]"}}}`, rest: `{"metadata":{}}`},
		{name: "no string", object: `{"metadata":{"annotations":{"conversion.webhookd.io/v1":{}}}}`, rest: `{"metadata":{}}`},
		{
			name:   "text elsewhere",
			object: `{"metadata":{"name":"conversion.webhookd.io","annotations":null}}`,
			rest:   `{"metadata":{"name":"conversion.webhookd.io","annotations":null}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := parse(t, test.object)
			stash, err := converters.TakeStash(obj, "v2", "v1")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if stash != nil {
				got = string(stash.Text())
			}
			if got != test.stash {
				t.Errorf("stash %s, want %s", got, test.stash)
			}
			if rest := string(obj.Text()); rest != test.rest {
				t.Errorf("object %s, want %s", rest, test.rest)
			}
		})
	}
}

func TestPutStash(t *testing.T) {
	t.Parallel()
	obj := parse(t, `{"metadata":{"name":"a"}}`)
	if err := converters.PutStash(obj, "v1", parse(t, `{ "a": [1.10, "<"] }`)); err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"name":"a","annotations":{"conversion.webhookd.io/v1":"{\"a\":[1.10,\"<\"]}"}}}`
	if got := string(obj.Text()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStashHasABudget(t *testing.T) {
	t.Parallel()
	const budget = 128 << 10
	fits, tooBig := strings.Repeat("x", budget-len(`{"a":""}`)), strings.Repeat("x", budget)
	if err := converters.PutStash(parse(t, `{}`), "v1", parse(t, `{"a":"`+fits+`"}`)); err != nil {
		t.Errorf("a stash of 128 KiB: %v", err)
	}
	errText := converters.PutStash(parse(t, `{}`), "v1", parse(t, `{"a":"`+tooBig+`"}`))
	errTyped := converters.SaveStash(&metav1.ObjectMeta{}, "v1", map[string]string{"a": tooBig})
	for _, err := range []error{errText, errTyped} {
		if err == nil || !strings.HasSuffix(err.Error(), `make its fields smaller: .metadata.annotations["conversion.webhookd.io/v1"]`) {
			t.Errorf("a bigger stash: %v", err)
		}
	}
}

func TestTypedStash(t *testing.T) {
	t.Parallel()
	type kept struct{ A *string }
	shared := map[string]string{"x": "y"}
	src, dst := &metav1.ObjectMeta{Annotations: shared}, &metav1.ObjectMeta{Annotations: shared}
	a := "<"
	if err := converters.SaveStash(dst, "v1", kept{&a}); err != nil {
		t.Fatal(err)
	}
	if got := dst.Annotations["conversion.webhookd.io/v1"]; got != `{"A":"<"}` || len(src.Annotations) != 1 {
		t.Errorf("stash %s; the source has %v", got, src.Annotations)
	}
	if got := converters.LoadStash[kept](dst, "v1"); got == nil || *got.A != a {
		t.Errorf("loaded %v", got)
	}
	for _, malformed := range []string{"", "{", "null", "[]", `{"A":1}`} {
		dst.Annotations["conversion.webhookd.io/v1"] = malformed
		if got := converters.LoadStash[kept](dst, "v1"); got != nil {
			t.Errorf("loaded %v from %s", got, malformed)
		}
	}
	if got := converters.LoadStash[kept](dst, "v2"); got != nil {
		t.Errorf("loaded %v from nothing", got)
	}
	if err := converters.SaveStash(dst, "v1", func() {}); err == nil {
		t.Error("saved a function")
	}
}
