package review_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// canaries returns an object with a canary of its own in every field.
func canaries(prefix string) string {
	return strings.NewReplacer("§", prefix).Replace(
		`{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"a","namespace":"default","uid":"§-uid","generateName":"§-gn",` +
			`"labels":{"l":"§-label"},"annotations":{"a":"§-annotation"},"finalizers":["§-finalizer"],"ownerReferences":[{"name":"§-owner"}],` +
			`"managedFields":[{"manager":"§-manager"}],"resourceVersion":"§-rv","x":"§-x"},` +
			`"spec":{"password":"§-password","list":["§-item",{"k":"§-deep"}],"old":"§-old","number":"§-number"},"status":{"s":"§-status"},"data":"§-data"}`)
}

var canary = regexp.MustCompile(`canary-\d+-\d+-[a-z]+`)

// misbehaviours returns all the ways in which a review of an object with canaries fails.
func misbehaviours() map[string]converters.Func {
	all := map[string]converters.Func{
		"guard":          set(`"x"`, "metadata", "name"),
		"guard of all":   remove("metadata"),
		"guard of uid":   set(`{"uid":"canary-0-0-new"}`, "metadata"),
		"guard of kind":  set(`"canary-0-0-kind"`, "kind"),
		"labels":         set(`{"k":"canary-0-0-label canary"}`, "metadata", "labels"),
		"labels' type":   set(`["canary-0-0-label"]`, "metadata", "labels"),
		"annotations":    set(`{"k":["canary-0-0-annotation"]}`, "metadata", "annotations"),
		"path":           set(`1`, "spec", "password", "x"),
		"path in a list": set(`1`, "spec", "list", "x"),
		"exchanged": func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			other, err := jsondoc.ParseObject(slices.Clone(obj.Text()))
			*obj = *other
			return err
		},
		"error": func(context.Context, *jsondoc.Object, string, string) error {
			return errors.New("reason: .spec.password")
		},
	}
	for name, tt := range panics() {
		all["panic "+name] = func(_ context.Context, obj *jsondoc.Object, _, _ string) error { return tt.convert(obj) }
	}
	all["panic with a value"] = func(_ context.Context, obj *jsondoc.Object, _, _ string) error { panic(string(obj.Text())) }
	return all
}

// 100 clients at once, each with its own canaries, use one handler whose reviews succeed, fail,
// panic and are rejected: none ever sees another's canaries. Run it with -race.
func TestNoForeignCanaries(t *testing.T) {
	t.Parallel()
	convert := func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		mode, err := obj.Get("spec", "mode")
		if err != nil {
			return err
		}
		switch m, _ := mode.Str(); m {
		case "panic":
			_ = obj.Set(raw(`1`), "spec", "password")
			panic(secret)
		case "fail":
			return errors.New("reason: .spec")
		case "guard":
			return obj.Remove("metadata")
		case "edit":
			if err := obj.Set(raw(`"v"`), "metadata", "annotations", "added"); err != nil {
				return err
			}
			if _, err := obj.Move([]string{"data"}, []string{"spec", "moved"}); err != nil {
				return err
			}
		}
		return touch(ctx, obj, from, to)
	}
	h := review.NewHandler(newReviewer(t, convert, (&record{}).hooks()))
	rounds := 30
	if testing.Short() {
		rounds = 10
	}
	var group sync.WaitGroup
	for client := range 100 {
		group.Go(func() {
			for round := range rounds {
				mine := fmt.Sprintf("canary-%d-%d", client, round)
				object := canaries(mine)
				mode := []string{"edit", "plain", "fail", "guard", "panic"}[(client+round)%5]
				object = strings.Replace(object, `"spec":{`, `"spec":{"mode":"`+mode+`",`, 1)
				objects := slices.Repeat([]string{object}, 1+(client*round)%4)
				body := request(objects...)
				if round%7 == 6 {
					body = body[:len(body)-3]
				}
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "POST", "/", bytes.NewReader(body)))
				seen := canary.FindAllString(rec.Body.String(), -1)
				for _, c := range seen {
					if !strings.HasPrefix(c, mine+"-") {
						t.Errorf("client %d sees %s", client, c)
					}
				}
				if converts := (mode == "edit" || mode == "plain") && round%7 != 6; converts != (len(seen) > 0) {
					t.Errorf("client %d, mode %s: sees %d canaries of its own", client, mode, len(seen))
				}
			}
		})
	}
	group.Wait()
}

// A reviewer does not keep the body, the answer or anything made of them.
func TestMemoryIsNotKept(t *testing.T) {
	t.Parallel()
	// A sync.Pool drops items at the second collection; memory of a large body does not go there.
	for size, collections := range map[int]int{1 << 10: 2, 8 << 20: 1} {
		r := newReviewer(t, all(touch, set(`"x"`, "metadata", "labels", "l")), review.Hooks{})
		body := func() weak.Pointer[byte] {
			body := request(widget(`"metadata":{"name":"a"}`, `"spec":{"text":"`+strings.Repeat("x", size)+`"}`), named("bad"))
			if _, err := r.Review(t.Context(), nil, body); err != nil {
				t.Fatal(err)
			}
			return weak.Make(&body[0])
		}()
		for range collections {
			runtime.GC()
		}
		if body.Value() != nil {
			t.Errorf("a body of %d bytes is still referenced", size)
		}
		runtime.KeepAlive(r)
	}
}
