package converters_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// In a transition an object is converted by the rules by which it was read.
func TestTransition(t *testing.T) {
	t.Parallel()
	var by string
	kind := func(rules string, before ...*converters.Kind) *converters.Kind {
		return &converters.Kind{
			GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}, Hub: "v1", Versions: []string{"v1", "v2"}, Rules: rules,
			Converter: converters.Func(func(context.Context, *jsondoc.Object, string, string) error {
				by = rules
				return nil
			}),
			Transition: &converters.Transition{Before: before, Stored: "v1"},
		}
	}
	now := kind("new", kind("oldest"), kind("old"))
	const uid = `"uid":"u"`
	mark := func(value string) string {
		return fmt.Sprintf(`%s,"annotations":{"conversion.webhookd.io/v1.kind":%q}`, uid, `{"value":`+value+`}`)
	}
	for name, tt := range map[string]struct{ metadata, from, to, want string }{
		"as it is stored":                   {uid, "v1", "v2", "new"},
		"without a mark":                    {uid, "v2", "v1", "oldest"},
		"read by earlier rules":             {mark(`{"rules":"old"}`), "v2", "v1", "old"},
		"read by the same rules":            {mark(`{"rules":"new","for":"old","kept":[]}`), "v2", "v1", "new"},
		"read by newer ones than the known": {mark(`{"rules":"newer"}`), "v2", "v1", "new"},
		"with what earlier rules need":      {mark(`{"rules":"newer","for":"old","kept":[]}`), "v2", "v1", "old"},
		"with a mark of no one":             {mark(`1`), "v2", "v1", "oldest"},
		"a fragment":                        {`"name":"a"`, "v2", "v1", "new"},
		"that is created":                   {uid + `,"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[{"time":"2026-01-02T03:04:04Z"}]`, "v2", "v1", "new"},
		"that was written since": {
			uid + `,"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[{"time":"2026-01-02T03:04:05Z"},{"time":"2026-01-02T03:05:00Z"}]`,
			"v2", "v1", "oldest",
		},
		"whose managers are not known": {uid + `,"creationTimestamp":"2026-01-02T03:04:05Z","managedFields":[]`, "v2", "v1", "oldest"},
	} {
		obj, err := jsondoc.ParseObject([]byte(`{"metadata":{` + tt.metadata + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := now.Convert(t.Context(), obj, tt.from, tt.to); err != nil || by != tt.want {
			t.Errorf("%s: converted by %s, want %s: %v", name, by, tt.want, err)
		}
	}
}
