package converters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A stash is an annotation that keeps what a version says and another version has no field for: a partial object of the
// version that it is named after, as JSON, each value at its own path.
//
// The rules of a stash: a conversion writes one only where the way back would not give the source again; the conversion
// to its version consumes it; a value of it counts only as long as it agrees with what the visible fields say, so an edit
// always wins; one that is malformed, or that somebody wrote by hand, does no harm. Stashes of third versions pass.

const (
	stashPrefix = "conversion.webhookd.io/"

	// maxStash bounds a stash in bytes: all annotations of an object together may have 256 KiB
	// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB), and kubectl apply keeps a copy of the object there.
	maxStash = 128 << 10
)

// StashAnnotation returns the name of the annotation that keeps fields of version.
func StashAnnotation(version string) string { return stashPrefix + version }

// TakeStash removes the stashes of the versions that obj is converted from and to, and returns that of to: what an earlier
// conversion kept of it, or nil if there is none that is an object.
func TakeStash(obj *jsondoc.Object, from, to string) (*jsondoc.Object, error) {
	if text, obscured, err := obj.NestedText("metadata", "annotations"); err != nil || !mayHoldStash(text, obscured) {
		return nil, err
	}
	meta, err := obj.Get("metadata")
	if err != nil {
		return nil, err
	}
	annotations, err := meta.Member("annotations")
	if err != nil {
		return nil, err
	}
	kept, err := annotations.Member(StashAnnotation(to))
	if err != nil {
		return nil, err
	}
	stale, err := annotations.Member(StashAnnotation(from))
	if err != nil || kept == nil && stale == nil {
		return nil, err
	}
	text, _ := kept.Str()
	for _, version := range []string{from, to} {
		if err := annotations.RemoveMember(StashAnnotation(version)); err != nil {
			return nil, err
		}
	}
	if string(annotations.Text()) == "{}" && !annotations.Untouched() {
		if err := meta.RemoveMember("annotations"); err != nil {
			return nil, err
		}
	}
	stash, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a malformed stash is none
	}
	return stash, nil
}

// PutStash keeps stash, a partial object of version, in obj's annotations. It fails if the stash is too big to be kept.
func PutStash(obj *jsondoc.Object, version string, stash *jsondoc.Object) error {
	var text bytes.Buffer
	if err := json.Compact(&text, stash.Text()); err != nil {
		return err
	}
	if err := checkStashSize(version, text.Len()); err != nil {
		return err
	}
	return obj.Set(jsondoc.StringValue(text.String()), "metadata", "annotations", StashAnnotation(version))
}

// SaveStash is PutStash for Go types: it keeps v, a partial object of version, in obj's annotations.
func SaveStash(obj metav1.Object, version string, v any) error {
	text, err := encode(v)
	if err != nil {
		return fmt.Errorf("stash of %s cannot be encoded: %w", version, err)
	}
	if err := checkStashSize(version, len(text)); err != nil {
		return err
	}
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = make(map[string]string, 1)
	}
	annotations[StashAnnotation(version)] = string(text)
	obj.SetAnnotations(annotations)
	return nil
}

// LoadStash returns what an earlier conversion kept of version in obj's annotations, or nil if there is nothing that fits
// a T. It leaves the annotation alone: HubSpoke removes it from what it converts to its version.
func LoadStash[T any](obj metav1.Object, version string) *T {
	text, found := obj.GetAnnotations()[StashAnnotation(version)]
	if !found {
		return nil
	}
	var stash *T
	if err := decode([]byte(text), &stash); err != nil {
		return nil
	}
	return stash
}

// mayHoldStash is true of all annotations with a stash. It spares most objects the listing of theirs, one of which is
// kubectl's copy of the object (BenchmarkConvert). A name may be spelt with escapes, where letters or dots are.
func mayHoldStash(annotations []byte, obscured bool) bool {
	return obscured || bytes.Contains(annotations, []byte("webhookd.io"))
}

func checkStashSize(version string, size int) error {
	if size <= maxStash {
		return nil
	}
	return &jsondoc.PathError{
		Problem: fmt.Sprintf("what only %s can say has %d bytes and an annotation keeps %d, make its fields smaller",
			version, size, maxStash),
		Path: jsondoc.FormatPath("metadata", "annotations", StashAnnotation(version)),
	}
}
