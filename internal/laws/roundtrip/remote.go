package roundtrip

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Remote converts an object from one version to another, such as a webhook that someone else
// wrote. It may keep values in labels and annotations of its own.
type Remote func(ctx context.Context, object []byte, from, to string) ([]byte, error)

// remotely converts by Remote, and makes of the answer what the API server does: it takes labels
// and annotations from the answer, and all other metadata from the object.
func (s *Resource) remotely(ctx context.Context, object []byte, from, to string) ([]byte, error) {
	answer, err := s.remote(ctx, object, from, to)
	if err != nil {
		return nil, err
	}
	if _, err := decode(answer, false); err != nil {
		return nil, fmt.Errorf("answer with an object that cannot be read: %w", err)
	}
	result, ok := literal(answer).(map[string]any)
	if !ok {
		return nil, errors.New("answer with something that is not an object")
	}
	source, _ := literal(object).(map[string]any)
	restoreMetadata(result, source)
	result["apiVersion"], result["kind"] = s.kind.Group+"/"+to, source["kind"]
	return encode(result), nil
}

// restoreMetadata does what the API server does to a converted object.
func restoreMetadata(result, source map[string]any) {
	theirs, _ := result["metadata"].(map[string]any)
	ours, had := source["metadata"].(map[string]any)
	meta := maps.Clone(ours)
	if meta == nil {
		meta = map[string]any{}
	}
	for _, name := range []string{"labels", "annotations"} {
		if delete(meta, name); !isAbsent(at(theirs, name)) {
			meta[name] = theirs[name]
		}
	}
	if result["metadata"] = meta; !had && len(meta) == 0 {
		delete(result, "metadata")
	}
}

// Visible removes all kept values, and what tidy removes. A Remote keeps them under any names but
// those that random objects have.
func (s *Resource) Visible(object map[string]any) map[string]any {
	if s.remote == nil {
		return visible(object)
	}
	for _, in := range []string{"labels", "annotations"} {
		entries, _ := at(object, "metadata", in).(map[string]any)
		maps.DeleteFunc(entries, func(name string, _ any) bool { return !slices.Contains(entryNames(), name) })
	}
	return tidy(object)
}
