package tree

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// IsMap reports whether a value is an object.
func IsMap(v any) bool { _, ok := v.(map[string]any); return ok }

// IsList reports whether a value is a list.
func IsList(v any) bool { _, ok := v.([]any); return ok }

// IsAny reports true for any value.
func IsAny(any) bool { return true }

// IsEmptyMap reports whether a value is an object without members.
func IsEmptyMap(v any) bool {
	m, ok := v.(map[string]any)
	return ok && len(m) == 0
}

// VersionOf returns the version of an object, by its apiVersion.
func VersionOf(object []byte) (string, error) {
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return "", err
	}
	n, err := obj.Get("apiVersion")
	apiVersion, _ := n.Str()
	_, version, found := strings.Cut(apiVersion, "/")
	if err == nil && !found {
		err = errors.New("object without a version, set it to GROUP/VERSION: .apiVersion")
	}
	return version, err
}

// Read reads an object as the API server does (k8s.io/apimachinery/pkg/util/json): a number is
// an int64 if it is whole and fits, and a float64 otherwise.
func Read(object []byte) map[string]any {
	m, _ := Must(jsondoc.Decode(object, false)).(map[string]any)
	return m
}

// Literal reads JSON with its numbers as their literals.
func Literal(text []byte) any { return Must(jsondoc.Decode(text, true)) }

// Must returns a value. It panics with an error, of texts that are known to be right.
func Must[T any](v T, err error) T {
	if err != nil {
		panic("tree: " + err.Error())
	}
	return v
}

// Encode writes JSON on one line, with the members of objects in the order of their names.
func Encode(v any) []byte { return Must(jsondoc.Encode(v)) }

// Copy returns a copy of a decoded value that shares nothing that can change.
func Copy[T any](v T) T {
	out, _ := runtime.DeepCopyJSONValue(v).(T)
	return out
}

// Absent is the value of a place that is not there.
type Absent struct{}

// IsAbsent reports whether a value is not there.
func IsAbsent(v any) bool { return v == any(Absent{}) }

// At returns the value that a path of names and indexes leads to, or absent.
func At(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			fields, _ := v.(map[string]any)
			value, found := fields[step]
			if v = value; !found {
				return Absent{}
			}
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return Absent{}
			}
			v = list[step]
		}
	}
	return v
}

// FormatPath writes a path of names and indexes for messages.
func FormatPath(path []any) string {
	var text strings.Builder
	for _, step := range path {
		if name, ok := step.(string); ok {
			text.WriteString(jsondoc.FormatPath(name))
		} else {
			fmt.Fprintf(&text, "[%v]", step)
		}
	}
	return text.String()
}

// Equal compares JSON values: numbers that were decoded by their value, literals of numbers by
// their text.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b && int64(b) == a
		}
	case float64:
		if b, ok := b.(int64); ok {
			return Equal(b, a)
		}
	}
	return a == b
}

// Names returns the names of the members of objects, in order.
func Names(objects ...map[string]any) []string {
	var all []string
	for _, o := range objects {
		all = slices.AppendSeq(all, maps.Keys(o))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Text returns the JSON text of a value, "" if it is absent.
func Text(v any) string {
	if IsAbsent(v) {
		return ""
	}
	return string(Encode(v))
}
