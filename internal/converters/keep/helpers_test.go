package keep

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// pathOf returns the path of nested members.
func pathOf(names ...string) annotation.Path {
	path := make(annotation.Path, 0, len(names))
	for _, name := range names {
		path = append(path, annotation.PathElement{Name: name})
	}
	return path
}

// named returns the name of the annotation of v1 for a path.
func named(path annotation.Path) string {
	name, _ := annotation.Name("v1", path)
	return name
}

func parseTest(tb testing.TB, text string) *jsondoc.Object {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		tb.Fatalf("%v: %.300s", err, text)
	}
	return obj
}

// takeText takes one annotation of an object, and reports whether it was removed.
func takeText(tb testing.TB, name, text string) (kept []*annotation.Entry, taken bool) {
	tb.Helper()
	obj := parseTest(tb, `{"metadata":{"annotations":{`+string(jsondoc.StringValue(name).Text())+`:`+string(jsondoc.StringValue(text).Text())+`}}}`)
	kept, err := annotation.Take(obj, annotation.Versions{From: "v2", To: "v1"}, &annotation.Memory{})
	if err != nil {
		tb.Fatal(err)
	}
	n, err := obj.Get("metadata", "annotations")
	if err != nil {
		tb.Fatal(err)
	}
	return kept, n == nil
}
