package review_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const secret = "canary-3b1f"

// Errors and values with methods that panic.
type (
	panickingError  struct{ text *string }
	panickingString struct{}
	ownRuntimeError struct{}
)

func (e *panickingError) Error() string { return *e.text }
func (e *panickingError) Unwrap() error { panic(secret) }
func (panickingString) String() string  { panic(secret) }
func (ownRuntimeError) Error() string   { return secret }
func (ownRuntimeError) RuntimeError()   {}

// panics returns converters that panic, and what the hook gets of the value.
func panics() map[string]struct {
	convert func(*jsondoc.Object) error
	want    string
} {
	type m = map[string]struct {
		convert func(*jsondoc.Object) error
		want    string
	}
	var (
		absent  any
		none    map[string]int
		index       = 7
		text    any = secret
		pointer *panickingError
	)
	return m{
		"string":                   {func(*jsondoc.Object) error { panic(secret) }, "string"},
		"error":                    {func(*jsondoc.Object) error { panic(errors.New(secret)) }, "*errors.errorString"},
		"wrapped error":            {func(*jsondoc.Object) error { panic(fmt.Errorf("%w", errors.New(secret))) }, "*fmt.wrapError"},
		"struct":                   {func(*jsondoc.Object) error { panic(struct{ S string }{secret}) }, "struct { S string }"},
		"nil":                      {func(*jsondoc.Object) error { panic(absent) }, "panic called with nil argument"},
		"nil map":                  {func(*jsondoc.Object) error { none["a"] = 1; return nil }, "assignment to entry in nil map"},
		"nil pointer":              {func(*jsondoc.Object) error { _ = *pointer.text; return nil }, "runtime error: invalid memory address or nil pointer dereference"},
		"index":                    {func(*jsondoc.Object) error { _ = []int{1}[index]; return nil }, "runtime error: index out of range [7] with length 1"},
		"type assertion":           {func(*jsondoc.Object) error { _ = text.(int); return nil }, "interface conversion: interface {} is string, not int"},
		"division":                 {func(*jsondoc.Object) error { index /= len(none); return nil }, "runtime error: integer divide by zero"},
		"panicking error":          {func(*jsondoc.Object) error { panic(&panickingError{}) }, "*review_test.panickingError"},
		"panicking string":         {func(*jsondoc.Object) error { panic(panickingString{}) }, "review_test.panickingString"},
		"value of package runtime": {func(*jsondoc.Object) error { panic(runtime.Frame{Function: secret}) }, "runtime.Frame"},
		"own runtime error":        {func(*jsondoc.Object) error { panic(ownRuntimeError{}) }, "review_test.ownRuntimeError"},
		"error method":             {func(*jsondoc.Object) error { return &panickingError{} }, "runtime error: invalid memory address or nil pointer dereference"},
		"while reading":            {func(o *jsondoc.Object) error { return o.Each(func(string, *jsondoc.Node) bool { panic(secret) }) }, "string"},
		"in a deferred call":       {func(*jsondoc.Object) error { defer func() { panic(errors.New(secret)) }(); panic(1) }, "*errors.errorString"},
		"after half the work":      {func(o *jsondoc.Object) error { _ = o.Set(raw(`1`), "metadata", "name"); panic(secret) }, "string"},
	}
}

// A panic of a converter is the failure of its object, with the right uid; the others are reported
// as well.
func TestPanicIsAFailure(t *testing.T) {
	t.Parallel()
	for name, tt := range panics() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reported []review.Panic
			convert := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
				n, err := obj.Get("metadata", "name")
				switch name, _ := n.Str(); name {
				case "panic":
					return tt.convert(obj)
				case "fail":
					return errors.New("reason: .path")
				}
				return err
			}
			hooks := review.Hooks{Panicked: func(_ context.Context, p review.Panic) { reported = append(reported, p) }}
			r := newReviewer(t, convert, hooks)
			got := ask(t, r, request(named("a"), named("panic"), named("fail"), named("panic")))
			const text = "converter panicked, see the log of webhookd for the stack and fix the converter"
			got.wantFailed(t, "3 of 4 objects", "objects[1] Widget default/panic v1beta1 -> v1: "+text, "objects[2] Widget default/fail v1beta1 -> v1: reason: .path",
				"objects[3] Widget default/panic v1beta1 -> v1: "+text)
			if len(reported) != 2 {
				t.Fatalf("hook was called %d times, want 2", len(reported))
			}
			p := reported[0]
			if want := (review.Pair{Kind: "Widget.example.com", From: "v1beta1", To: "v1"}); p.UID != uid || p.Type != tt.want || p.Pair != want {
				t.Errorf("hook got %+v", p)
			}
			if strings.Contains(p.Stack+p.Type+got.message, secret) {
				t.Errorf("the panic's value shows: %+v %s", p, got.message)
			}
			if !strings.Contains(p.Stack, "internal/review_test.") || !strings.Contains(p.Stack, "internal/review.(*conversion).run ") {
				t.Errorf("stack does not lead to the converter:\n%s", p.Stack)
			}
			// The next review still works.
			ask(t, r, request(named("a"))).wantObjects(t, strings.Replace(named("a"), "v1beta1", "v1", 1))
		})
	}
}

// A stack has functions, files and lines, but no arguments.
func TestPanicStack(t *testing.T) {
	t.Parallel()
	var stack string
	hooks := review.Hooks{Panicked: func(_ context.Context, p review.Panic) { stack = p.Stack }}
	r := newReviewer(t, func(context.Context, *jsondoc.Object, string, string) error { panic(secret) }, hooks)
	ask(t, r, request(named("a"))).wantFailed(t)
	line := regexp.MustCompile(`^[^ ]+ [^ ]+\.(go|s):\d+$`)
	lines := strings.Split(strings.TrimSuffix(stack, "\n"), "\n")
	if slices.ContainsFunc(lines, func(l string) bool { return !line.MatchString(l) }) || len(lines) < 5 || len(lines) > 64 {
		t.Errorf("stack:\n%s", stack)
	}
	if !strings.HasPrefix(lines[0], "runtime.gopanic ") || !strings.Contains(lines[1], "TestPanicStack") {
		t.Errorf("stack does not start where the panic is:\n%s", stack)
	}
}

// A panic needs no hook; and there may be many at once.
func TestPanicWithoutHooks(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, func(context.Context, *jsondoc.Object, string, string) error { panic(secret) }, review.Hooks{})
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 50 {
				text, err := r.Review(t.Context(), nil, request(named("a"), named("b")))
				if err != nil || !strings.Contains(string(text), `"uid":"`+uid+`","convertedObjects":[],"result":{"status":"Failed"`) {
					t.Errorf("%s %v", text, err)
				}
			}
		})
	}
	group.Wait()
}
