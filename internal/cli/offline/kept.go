package offline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// NoteKept prints which values the conversions of all documents kept and dropped.
func NoteKept(ctx context.Context, p *voice.Program, inputs, results []manifest.File, drops *DropReporter) error {
	for i := range inputs {
		for j := range inputs[i].Documents {
			name := inputs[i].Describe(j)
			if err := NoteKeptOf(ctx, p, name, inputs[i].Documents[j], results[i].Documents[j], drops); err != nil {
				return fmt.Errorf("cannot list what was dropped: %s: %w", name, err)
			}
		}
	}
	return nil
}

// NoteKeptOf does so for one document, or for each item of a List.
func NoteKeptOf(ctx context.Context, p *voice.Program, name string, before, after []byte, drops *DropReporter) error {
	type object struct {
		APIVersion string            `json:"apiVersion"`
		Items      []json.RawMessage `json:"items"`
		Metadata   struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	var was, is object
	if err := errors.Join(json.Unmarshal(before, &was), json.Unmarshal(after, &is)); err != nil {
		return nil //nolint:nilerr // fields of another type: nothing that webhookd has kept
	}
	if len(was.Items) > 0 && len(was.Items) == len(is.Items) {
		for i := range was.Items {
			if err := NoteKeptOf(ctx, p, fmt.Sprintf("%s: items[%d]", name, i), was.Items[i], is.Items[i], drops); err != nil {
				return err
			}
		}
		return nil
	}
	if was.APIVersion == is.APIVersion {
		return nil
	}
	lines := keptLines(was.Metadata.Annotations, is.Metadata.Annotations)
	for _, line := range lines {
		p.Note("%s: %s", name, line)
	}
	if len(lines) == 0 {
		p.Note("%s: %s -> %s: nothing had to be kept", name, was.APIVersion, is.APIVersion)
	}
	_, to, _ := strings.Cut(is.APIVersion, "/")
	return drops.report(ctx, p, name, before, to)
}

// keptLines returns a line for each value that a conversion has kept. Values that were kept before
// are left out.
func keptLines(before, after map[string]string) []string {
	var all []string
	for name, text := range after {
		if was, passed := before[name]; passed && was == text {
			continue
		}
		kept := keep.Describe(name, text)
		for _, value := range kept.Values {
			all = append(all, "kept from "+kept.Version+": "+value.Line)
		}
	}
	slices.Sort(all)
	return all
}

// AnnotationsOf returns the annotations of an object. It has none if they cannot be read: webhookd
// has not written those.
func AnnotationsOf(object []byte) map[string]string {
	var of struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &of) != nil {
		return nil
	}
	return of.Metadata.Annotations
}

// MaxAnnotations is what the API server allows for all annotations of an object
// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
const MaxAnnotations = 256 << 10

// KeptPaths returns the paths of values that a conversion has kept in annotations.
func KeptPaths(before, after []byte) []string {
	was := AnnotationsOf(before)
	var paths []string
	for name, text := range AnnotationsOf(after) {
		if old, passed := was[name]; !keep.IsOwn(name) || passed && old == text {
			continue
		}
		kept := keep.Describe(name, text)
		for _, value := range kept.Values {
			paths = append(paths, kept.Version+" "+value.Path)
		}
		if len(kept.Values) == 0 {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
