package review_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// fullMeta is metadata with one of everything.
const fullMeta = `{"annotations":{"a/b":"1"},"creationTimestamp":"2026-01-01T00:00:00Z","finalizers":["f"],"generation":9007199254740993,` +
	`"labels":{"app":"x"},"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}],"name":"a","namespace":"n",` +
	`"ownerReferences":[{"uid":"o","controller":true}],"resourceVersion":"7","uid":"u","x-unknown":[1.10,null]}`

func metadata(text string) string { return widget(`"metadata":`+text, `"spec":{}`) }

// all runs converters one after the other.
func all(converts ...converters.Func) converters.Func {
	return func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		for _, convert := range converts {
			if err := convert(ctx, obj, from, to); err != nil {
				return err
			}
		}
		return nil
	}
}

// A converter that changes the kind or protected metadata is refused, and the message names each
// path.
func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	const refused = "converter changed fields it must not change, let it edit only labels and annotations in metadata: "
	tests := map[string]struct {
		convert converters.Func
		want    string
	}{
		"kind changed":               {set(`"Gadget"`, "kind"), ".kind"},
		"kind null":                  {set(`null`, "kind"), ".kind"},
		"kind of a number":           {set(`1`, "kind"), ".kind"},
		"kind removed":               {remove("kind"), ".kind"},
		"name null":                  {set(`null`, "metadata", "name"), ".metadata.name"},
		"name empty":                 {set(`""`, "metadata", "name"), ".metadata.name"},
		"uid of a number":            {set(`1`, "metadata", "uid"), ".metadata.uid"},
		"finalizer added":            {set(`["f","g"]`, "metadata", "finalizers"), ".metadata.finalizers"},
		"finalizers emptied":         {set(`[]`, "metadata", "finalizers"), ".metadata.finalizers"},
		"owner changed inside":       {set(`[{"uid":"o","controller":false}]`, "metadata", "ownerReferences"), ".metadata.ownerReferences"},
		"generation off by one":      {set(`9007199254740992`, "metadata", "generation"), ".metadata.generation"},
		"creationTimestamp null":     {set(`null`, "metadata", "creationTimestamp"), ".metadata.creationTimestamp"},
		"unknown member respelt":     {set(`[1.1,null]`, "metadata", "x-unknown"), `.metadata["x-unknown"]`},
		"unknown member added":       {set(`1`, "metadata", "y y"), `.metadata["y y"]`},
		"two changed, one added":     {all(set(`"b"`, "metadata", "name"), set(`1`, "metadata", "z"), remove("metadata", "uid")), ".metadata.name, .metadata.uid, .metadata.z"},
		"metadata removed":           {remove("metadata"), ".metadata.creationTimestamp, .metadata.finalizers, .metadata.generation"},
		"metadata null":              {set(`null`, "metadata"), ".metadata.creationTimestamp"},
		"metadata emptied":           {set(`{}`, "metadata"), ".metadata.creationTimestamp"},
		"metadata of a string":       {set(`"a"`, "metadata"), ".metadata"},
		"metadata of an array":       {set(`[]`, "metadata"), ".metadata"},
		"metadata replaced, one new": {set(strings.Replace(fullMeta, `{`, `{"selfLink":"/x",`, 1), "metadata"), ".metadata.selfLink"},
		"object replaced":            {set(`{"kind":"Gadget","metadata":` + fullMeta + `}`), ".kind"},
		"object of no kind":          {set(`{}`), ".kind"},
		"object replaced by text":    {set(`"x"`), ".kind"},
		"object replaced by null":    {set(`null`), ".kind"},
		"object replaced by array":   {set(`[{"kind":"Widget"}]`), ".kind"},
		"metadata moved away": {func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			_, err := obj.Move([]string{"metadata"}, []string{"spec", "metadata"})
			return err
		}, ".metadata.creationTimestamp"},
		"another's metadata moved there": {func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			if err := obj.Set(raw(`{"name":"evil"}`), "spec", "template"); err != nil {
				return err
			}
			_, err := obj.Move([]string{"spec", "template"}, []string{"metadata"})
			return err
		}, ".metadata.creationTimestamp"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, tt.convert, review.Hooks{}), request(metadata(fullMeta)))
			got.wantFailed(t, "objects[0] Widget n/a v1beta1 -> v1: "+refused+tt.want)
			if strings.HasPrefix(name, "metadata of") && !strings.HasSuffix(got.message, tt.want) || strings.Contains(got.message, " more") {
				t.Errorf("it names more: %s", got.message)
			}
		})
	}
}

// Allowed changes: the answer has the source's metadata byte for byte, with the converter's labels
// and annotations.
func TestGuardAllows(t *testing.T) {
	t.Parallel()
	const (
		full  = `{"name":"a","labels":{"app":"x"},"generation":1,"annotations":{"b":"2"},"uid":"u"}`
		plain = `{"name":"a"}`
	)
	tests := map[string]struct {
		before  string
		convert converters.Func
		want    string
	}{
		"nothing":                       {full, nothing, full},
		"spaces":                        {`{ "name" : "a", "labels":{ } }`, nothing, `{ "name" : "a", "labels":{ } }`},
		"label changed":                 {full, set(`"y"`, "metadata", "labels", "app"), strings.Replace(full, `"x"`, `"y"`, 1)},
		"label added":                   {full, set(`"y"`, "metadata", "labels", "b"), strings.Replace(full, `"x"`, `"x","b":"y"`, 1)},
		"empty label added":             {full, set(`""`, "metadata", "labels", "b"), strings.Replace(full, `"x"`, `"x","b":""`, 1)},
		"empty label removed":           {`{"labels":{"a":"b","c":""}}`, remove("metadata", "labels", "c"), `{"labels":{"a":"b"}}`},
		"many labels":                   {plain, set(manyLabels(), "metadata", "labels"), `{"name":"a","labels":` + manyLabels() + `}`},
		"label removed":                 {full, remove("metadata", "labels", "app"), strings.Replace(full, `{"app":"x"}`, `{}`, 1)},
		"labels removed":                {full, remove("metadata", "labels"), strings.Replace(full, `"labels":{"app":"x"},`, ``, 1)},
		"labels null":                   {full, set(`null`, "metadata", "labels"), strings.Replace(full, `{"app":"x"}`, `null`, 1)},
		"labels empty":                  {full, set(`{}`, "metadata", "labels"), strings.Replace(full, `{"app":"x"}`, `{}`, 1)},
		"annotation added to none":      {plain, set(`"v"`, "metadata", "annotations", "k"), `{"name":"a","annotations":{"k":"v"}}`},
		"annotation added to null":      {`{"annotations":null}`, set(`"v"`, "metadata", "annotations", "k"), `{"annotations":{"k":"v"}}`},
		"annotation added to no object": {``, set(`"v"`, "metadata", "annotations", "k"), `{"annotations":{"k":"v"}}`},
		"annotations removed":           {full, remove("metadata", "annotations"), strings.Replace(full, `"annotations":{"b":"2"},`, ``, 1)},
		"both changed": {
			full, all(set(`{"l":"1"}`, "metadata", "labels"), set(`{"m":"2"}`, "metadata", "annotations")),
			`{"name":"a","labels":{"l":"1"},"generation":1,"annotations":{"m":"2"},"uid":"u"}`,
		},
		"metadata set to null with only labels":    {`{"labels":{"a":"b"}}`, set(`null`, "metadata"), `{}`},
		"metadata removed with only labels":        {`{"labels":{"a":"b"}}`, remove("metadata"), `{}`},
		"metadata removed where there was nothing": {`{}`, remove("metadata"), `{}`},
		"metadata added where there was none":      {``, set(`{}`, "metadata"), `{}`},

		// Changes that typed Go structs cause on the way through encoding/json.
		"creationTimestamp null added":  {plain, set(`null`, "metadata", "creationTimestamp"), plain},
		"null dropped":                  {`{"name":"a","generateName":null}`, remove("metadata", "generateName"), `{"name":"a","generateName":null}`},
		"empty values dropped":          {`{"finalizers":[],"generation":0,"namespace":"","labels":{}}`, set(`{}`, "metadata"), `{"finalizers":[],"generation":0,"namespace":"","labels":{}}`},
		"empty values added":            {plain, set(`{"name":"a","labels":{},"annotations":null,"finalizers":[],"namespace":""}`, "metadata"), plain},
		"replaced by an equal one":      {full, set(full, "metadata"), full},
		"replaced, in another order":    {full, set(`{"uid":"u","annotations":{"b":"2"},"generation":1,"labels":{"app":"x"},"name":"a"}`, "metadata"), full},
		"replaced, with spaces":         {full, set(` { "name" : "a", "labels" : { "app" : "x" },"generation":1,"annotations":{"b":"2"},"uid":"u" } `, "metadata"), full},
		"escapes written otherwise":     {`{"name":"\u0061","annotations":{"k":"\u003c"}}`, set(`{"name":"a","annotations":{"k":"<"}}`, "metadata"), `{"name":"\u0061","annotations":{"k":"\u003c"}}`},
		"names escaped":                 {`{"n\u0061me":"a","l\u0061bels":{"x":"y"}}`, set(`{"name":"a","labels":{"x":"z"}}`, "metadata"), `{"n\u0061me":"a","l\u0061bels":{"x":"z"}}`},
		"lists inside in another form":  {`{"ownerReferences":[{"uid":"o","a":1}]}`, set(`[ {"a":1, "uid":"o"} ]`, "metadata", "ownerReferences"), `{"ownerReferences":[{"uid":"o","a":1}]}`},
		"replaced, with labels changed": {full, set(`{"uid":"u","generation":1,"labels":{"app":"y"},"name":"a","creationTimestamp":null}`, "metadata"), `{"name":"a","labels":{"app":"y"},"generation":1,"uid":"u"}`},
		"name set to itself":            {full, set(`"a"`, "metadata", "name"), full},
		"kind set to itself":            {plain, set(`"Widget"`, "kind"), plain},
		"kind with an escape":           {plain, set(`"W\u0069dget"`, "kind"), plain},

		// Only changes are validated: stored values may be older than the rules.
		"invalid labels kept":         {`{"labels":{"-":"-"}}`, nothing, `{"labels":{"-":"-"}}`},
		"invalid labels respelt":      {`{"labels":{"-":"-"}}`, set(`{"labels":{ "-":"-" }}`, "metadata"), `{"labels":{"-":"-"}}`},
		"invalid ones next to others": {`{"labels":{"-":"-"}}`, set(`"b"`, "metadata", "annotations", "a"), `{"labels":{"-":"-"},"annotations":{"a":"b"}}`},
		"annotation in capitals":      {plain, set(`"b"`, "metadata", "annotations", "Example.COM/A"), `{"name":"a","annotations":{"Example.COM/A":"b"}}`},
		"annotations of 256 KiB": {
			plain, set(`"`+strings.Repeat("x", 256<<10-1)+`"`, "metadata", "annotations", "k"),
			`{"name":"a","annotations":{"k":"` + strings.Repeat("x", 256<<10-1) + `"}}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, want := widget(`"spec":{}`, `"metadata":`+tt.before), `{"apiVersion":"example.com/v1","kind":"Widget","spec":{},"metadata":`+tt.want+`}`
			if tt.before == "" {
				source = widget(`"spec":{}`)
			}
			got := ask(t, newReviewer(t, tt.convert, review.Hooks{}), request(source))
			if name == "kind with an escape" {
				want = strings.Replace(want, "Widget", `W\u0069dget`, 1)
			}
			got.wantObjects(t, want)
		})
	}
}

// manyLabels returns more labels than there may be annotations.
func manyLabels() string {
	var b strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&b, `,"l%d":"%060d"`, i, 0)
	}
	return "{" + b.String()[1:] + "}"
}

// Changed labels and annotations must be valid for the API server; the user sees which key is
// wrong.
func TestGuardValidatesLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	const fix = ", fix the converter: "
	tests := map[string]struct {
		convert converters.Func
		want    []string
	}{
		"label value too long": {set(`"`+strings.Repeat("canary", 11)+`"`, "metadata", "labels", "app"), []string{"converter set an invalid entry (must be no more than 63 bytes)" + fix + ".metadata.labels.app"}},
		"label value of words": {set(`"canary canary"`, "metadata", "labels", "app"), []string{"converter set an invalid entry (a valid label must be", fix + ".metadata.labels.app"}},
		"label key":            {set(`"x"`, "metadata", "labels", "a b/c"), []string{"converter set an invalid entry (prefix part", fix + `.metadata.labels["a b/c"]`}},
		"label key too long":   {set(`"x"`, "metadata", "labels", strings.Repeat("x", 300)), []string{fix + `.metadata.labels["` + strings.Repeat("x", 253) + `..."]`}},
		"label key empty":      {set(`"x"`, "metadata", "labels", ""), []string{"name part must be non-empty", fix + `.metadata.labels[""]`}},
		"label of a number":    {set(`7777`, "metadata", "labels", "app"), []string{"converter set a number for a string" + fix + ".metadata.labels.app"}},
		"label null":           {set(`null`, "metadata", "labels", "app"), []string{"converter set null for a string" + fix + ".metadata.labels.app"}},
		"labels of an array":   {set(`["canary"]`, "metadata", "labels"), []string{"converter set an array for a map of strings" + fix + ".metadata.labels"}},
		"labels of a string":   {set(`"canary"`, "metadata", "labels"), []string{"converter set a string for a map of strings" + fix + ".metadata.labels"}},
		"annotation key":       {set(`"x"`, "metadata", "annotations", "a/b/c"), []string{"converter set an invalid entry (a valid label key must consist of", fix + `.metadata.annotations["a/b/c"]`}},
		"annotation of a list": {set(`["canary"]`, "metadata", "annotations", "k"), []string{"converter set an array for a string" + fix + ".metadata.annotations.k"}},
		"annotations too large": {
			set(`"`+strings.Repeat("canary", 256<<10/6+1)+`"`, "metadata", "annotations", "k"),
			[]string{"converter set annotations that are too large (annotations size 262151 is larger than limit 262144)" + fix + ".metadata.annotations"},
		},
		"old and new invalid": {set(`"x"`, "metadata", "annotations", "-"), []string{`.metadata.annotations["-"]`}},
		"repeated key":        {set(`{"k":"1","k":2}`, "metadata", "annotations"), []string{"set a number for a string, fix the converter: .metadata.annotations.k"}},
		"several": {
			all(set(`1`, "metadata", "labels", "b"), set(`2`, "metadata", "labels", "c"), set(`3`, "metadata", "annotations", "d")),
			[]string{".metadata.annotations.d; ", ".metadata.labels.b; ", ".metadata.labels.c"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, tt.convert, review.Hooks{}), request(metadata(fullMeta)))
			got.wantFailed(t, tt.want...)
			if strings.Contains(got.message, "canary") || strings.Contains(got.message, "7777") {
				t.Errorf("message quotes a value: %s", got.message)
			}
		})
	}
}

// The same failure has the same text, whatever the order of a map.
func TestGuardMessageIsDeterministic(t *testing.T) {
	t.Parallel()
	bad, added := make([]converters.Func, 9), make([]converters.Func, 9)
	for i := range 9 {
		bad[i] = set(`1`, "metadata", "labels", fmt.Sprintf("l%d", i))
		added[i] = set(`1`, "metadata", fmt.Sprintf("x%d", i))
	}
	for name, convert := range map[string]converters.Func{"labels": all(bad...), "members": all(added...)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReviewer(t, convert, review.Hooks{})
			first := ask(t, r, request(metadata(fullMeta)))
			for range 20 {
				if again := ask(t, r, request(metadata(fullMeta))); again.message != first.message {
					t.Fatalf("%s\n%s", first.message, again.message)
				}
			}
		})
	}
}

// Hostile metadata costs time linear in its size.
func TestGuardManyMembers(t *testing.T) {
	t.Parallel()
	var meta strings.Builder
	meta.WriteString(`{"name":"a"`)
	for i := range 100_000 {
		fmt.Fprintf(&meta, `,"m%d":%d`, i, i)
	}
	meta.WriteString(`}`)
	ask(t, newReviewer(t, set(`"b"`, "metadata", "labels", "a"), review.Hooks{}), request(metadata(meta.String()))).
		wantObjects(t, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":`+strings.TrimSuffix(meta.String(), "}")+`,"labels":{"a":"b"}},"spec":{}}`)
	ask(t, newReviewer(t, set(`{}`, "metadata"), review.Hooks{}), request(metadata(meta.String()))).
		wantFailed(t, ".metadata.name, .metadata.m1, .metadata.m2", " and 99984 more")
}
