package offline

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
)

// MaxAnnotations is what the API server allows for all annotations of an object
// (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
const MaxAnnotations = 256 << 10

// Kept returns the values that the conversion has kept in annotations: their places with the version
// first, and a line for each that quotes it. Values that were kept before are left out.
func (i *Item) Kept() (places, lines []string) {
	was := AnnotationsOf(i.Before)
	for name, text := range AnnotationsOf(i.After) {
		if old, passed := was[name]; !keep.IsOwn(name) || passed && old == text {
			continue
		}
		kept := keep.Describe(name, text)
		for _, value := range kept.Values {
			places = append(places, kept.Version+" "+value.Path)
			lines = append(lines, "kept from "+kept.Version+": "+value.Line)
		}
		if len(kept.Values) == 0 {
			places = append(places, name)
		}
	}
	slices.Sort(lines)
	return places, lines
}

// Report says which values the conversion of an item has kept in annotations, and which ones rules
// drop, a line each.
func (c *Converter) Report(ctx context.Context, i *Item, to string) ([]string, error) {
	if i.After == nil || i.Type.Version == to {
		return nil, nil
	}
	_, lines := i.Kept()
	if len(lines) == 0 {
		there := i.Type.GroupVersion()
		there.Version = to
		lines = []string{i.Type.GroupVersion().String() + " -> " + there.String() + ": nothing had to be kept"}
	}
	dropped, err := c.Dropped(ctx, i.Before, to)
	return append(lines, dropped...), err
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
