package tree

import (
	"maps"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

// IsKept reports whether the annotation of a name keeps values of a version, or of any version if
// that is "".
func IsKept(name, version string) bool {
	_, of, _ := strings.Cut(name, "/")
	return annotation.IsOwn(name) && (version == "" || of == version || strings.HasPrefix(of, version+"."))
}

// Kept returns the annotations of an object that keep values of a version, or of all versions if
// that is "".
func Kept(object map[string]any, version string) map[string]string {
	found := map[string]string{}
	for name, value := range Annotations(object) {
		if text, ok := value.(string); ok && IsKept(name, version) {
			found[name] = text
		}
	}
	return found
}

// Visible removes all kept values, and what Tidy removes.
func Visible(object map[string]any) map[string]any {
	DropKept(object)
	return Tidy(object)
}

// DropKept removes all kept values.
func DropKept(object map[string]any) {
	maps.DeleteFunc(Annotations(object), func(name string, _ any) bool { return IsKept(name, "") })
}

// Tidy removes metadata, labels and annotations that are null or empty: the API server treats these
// like absent ones.
func Tidy(object map[string]any) map[string]any {
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

// Annotations returns the annotations of an object, nil if it has none.
func Annotations(object map[string]any) map[string]any {
	annotations, _ := At(object, "metadata", "annotations").(map[string]any)
	return annotations
}

// Annotate adds annotations to an object.
func Annotate(object map[string]any, annotations map[string]string) {
	all := Child(Child(object, "metadata"), "annotations")
	for name, text := range annotations {
		all[name] = text
	}
}

// Child returns an object in an object, and makes it where there is none.
func Child(object map[string]any, name string) map[string]any {
	child, ok := object[name].(map[string]any)
	if !ok {
		child = map[string]any{}
		object[name] = child
	}
	return child
}

// WithoutIdentity returns what an object has apart from its metadata, apiVersion and kind.
func WithoutIdentity(object map[string]any) map[string]any {
	rest := maps.Clone(object)
	for _, name := range []string{"metadata", "apiVersion", "kind"} {
		delete(rest, name)
	}
	return rest
}
