package roundtrip

import (
	"maps"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
)

// isKept reports whether an annotation keeps values of a version, or of any version if that is "".
func isKept(annotation, version string) bool {
	_, name, _ := strings.Cut(annotation, "/")
	return keep.IsOwn(annotation) && (version == "" || name == version || strings.HasPrefix(name, version+"."))
}

// keptIn returns the annotations of an object that keep values of a version, or of all versions if
// that is "".
func keptIn(object map[string]any, version string) map[string]string {
	found := map[string]string{}
	for name, value := range annotationsOf(object) {
		if text, ok := value.(string); ok && isKept(name, version) {
			found[name] = text
		}
	}
	return found
}

// visible removes all kept values, and what tidy removes.
func visible(object map[string]any) map[string]any {
	dropKept(object)
	return tidy(object)
}

func dropKept(object map[string]any) {
	maps.DeleteFunc(annotationsOf(object), func(name string, _ any) bool { return isKept(name, "") })
}

// tidy removes metadata, labels and annotations that are null or empty: the API server treats these
// like absent ones.
func tidy(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	for _, name := range []string{"labels", "annotations"} {
		if entries, _ := meta[name].(map[string]any); len(entries) == 0 {
			delete(meta, name)
		}
	}
	if len(meta) == 0 {
		delete(object, "metadata")
	}
	return object
}

func annotationsOf(object map[string]any) map[string]any {
	annotations, _ := at(object, "metadata", "annotations").(map[string]any)
	return annotations
}

// annotate adds annotations to an object.
func annotate(object map[string]any, annotations map[string]string) {
	all := childOf(childOf(object, "metadata"), "annotations")
	for name, text := range annotations {
		all[name] = text
	}
}

// childOf returns an object in an object, and makes it where there is none.
func childOf(object map[string]any, name string) map[string]any {
	child, ok := object[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		object[name] = child
	}
	return child
}

// withoutIdentity returns what an object has apart from its metadata, apiVersion and kind.
func withoutIdentity(object map[string]any) map[string]any {
	rest := maps.Clone(object)
	for _, name := range []string{"metadata", "apiVersion", "kind"} {
		delete(rest, name)
	}
	return rest
}
