package offline

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Discarded returns the places of values that are lost if an item is written at its new version
// without annotations. A value that comes back in another notation, as 1m30s for 90s, is not lost.
func (c *Converter) Discarded(ctx context.Context, item *Item) ([]string, error) {
	kept, _ := item.Kept()
	if len(kept) == 0 {
		return nil, nil
	}
	after, _, err := Strip(item.After)
	if err != nil {
		return nil, err
	}
	back, err := c.Convert(ctx, after, item.Type.Version)
	if err != nil {
		return nil, fmt.Errorf("cannot tell what is lost: %w", err)
	}
	was, err := jsondoc.Decode(item.Before, false) // as the API server reads numbers
	if err != nil {
		return nil, err
	}
	is, err := jsondoc.Decode(back, false)
	if err != nil {
		return nil, err
	}
	restated := map[string]bool{}
	if onlyRestated(was, is, "", restated) {
		return nil, nil
	}
	return slices.DeleteFunc(kept, func(place string) bool {
		_, path, _ := strings.Cut(place, " ") // behind the version
		return restated[path]
	}), nil
}

// onlyRestated reports whether two values are the same but for notation. It adds the paths of those
// in another one.
func onlyRestated(was, is any, path string, restated map[string]bool) bool {
	var same bool
	switch was := was.(type) {
	case map[string]any:
		members, _ := is.(map[string]any)
		same = len(members) == len(was)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			same = onlyRestated(was[name], members[name], path+"."+name, restated) && same
		}
	case []any:
		elements, _ := is.([]any)
		same = len(elements) == len(was)
		for i, element := range was {
			same = i < len(elements) && onlyRestated(element, elements[i], fmt.Sprintf("%s[%d]", path, i), restated) && same
		}
	default:
		a, errA := json.Marshal(was)
		b, errB := json.Marshal(is)
		if errA != nil || errB != nil || bytes.Equal(a, b) {
			return errA == nil && errB == nil
		}
		same = transform.SameValue(a, b)
		restated[path] = same
	}
	return same
}
