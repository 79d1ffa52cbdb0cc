package serve

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// sampleReview returns a ConversionReview to try, of the first case among files: the object of a
// spoke in a file NAME.VERSION.yaml. Without a case, it has an object with only a name. It is empty
// if there are no kinds.
func sampleReview(registry *converters.Registry, files []ruleset.File) string {
	for _, f := range files {
		in, err := manifest.ParseFile(f.Name, f.Text)
		if err != nil || len(in.Documents) != 1 {
			continue
		}
		_, gvk, err := manifest.ParseObject(in.Documents[0])
		if err != nil || !strings.Contains(filepath.Base(f.Name), "."+gvk.Version+".") {
			continue
		}
		kind := registry.Lookup(gvk.GroupKind())
		if kind != nil && kind.Has(gvk.Version) && gvk.Version != kind.Hub {
			return reviewToHub(kind, string(in.Documents[0]))
		}
	}
	if len(registry.Kinds()) == 0 {
		return ""
	}
	kind := registry.Kinds()[0]
	spoke := slices.IndexFunc(kind.Versions, func(v string) bool { return v != kind.Hub })
	return reviewToHub(kind, fmt.Sprintf(`{"apiVersion":"%s/%s","kind":%q,"metadata":{"name":"sample"}}`, kind.Group, kind.Versions[spoke], kind.Kind))
}

func reviewToHub(kind *converters.Kind, object string) string {
	return fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"sample",`+
		`"desiredAPIVersion":"%s/%s","objects":[%s]}}`, kind.Group, kind.Hub, object)
}
