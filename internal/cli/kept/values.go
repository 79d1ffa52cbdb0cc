package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// A reader reads objects, and the converters if there are rules.
type reader struct {
	p         *voice.Program
	o         *keptOptions
	converter *offline.Converter // or nil
}

// examine says what an object keeps, or each item of a list.
func (r *reader) examine(ctx context.Context, text []byte) ([]*keptObject, error) {
	var object struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Items             []json.RawMessage `json:"items"`
	}
	of := offline.NamesOf([]string{r.o.object})
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("%s: cannot read the object: %w", of, err)
	}
	if strings.HasSuffix(object.Kind, "List") && object.Name == "" {
		var all []*keptObject
		for _, item := range object.Items {
			found, err := r.examine(ctx, item)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
		return all, nil
	}
	gvk := object.GroupVersionKind()
	if manifest.IsDefinition(gvk) || object.APIVersion == syntax.APIVersion {
		return nil, voice.Usage(fmt.Errorf("%s: a %s is no object with kept values", of, object.Kind), offline.HintKind(gvk))
	}
	x := &keptObject{
		Object: object.Kind + " " + offline.NameOf(text), Version: gvk.Version,
		Limit: offline.MaxAnnotations, Kept: []keptAnnotation{},
	}
	for name, value := range object.Annotations {
		size := len(name) + len(value)
		x.AnnotationBytes += size
		if annotation.IsOwn(name) {
			x.KeptBytes += size
			x.add(name, value, size, r.o)
		}
	}
	slices.SortFunc(x.Kept, func(a, b keptAnnotation) int {
		return cmp.Or(strings.Compare(a.Version, b.Version), strings.Compare(a.Name, b.Name))
	})
	if err := r.outdate(ctx, x, text, gvk); err != nil {
		return nil, err
	}
	return []*keptObject{x}, nil
}

// add adds an annotation.
func (x *keptObject) add(name, value string, size int, o *keptOptions) {
	kept := annotation.Describe(name, value)
	if len(kept.Values) == 0 {
		x.others++
		return
	}
	k := keptAnnotation{Version: kept.Version, Name: name, Bytes: size}
	for _, v := range kept.Values {
		if !slices.Contains(k.Places, v.Path) {
			k.Places = append(k.Places, v.Path)
		}
		if !slices.Contains(k.Keeps, v.What) {
			k.Keeps = append(k.Keeps, v.What)
		}
		if o.showValues {
			k.Values = append(k.Values, v.Line)
		}
	}
	x.Kept = append(x.Kept, k)
}

// outdate finds the annotations whose values do not return at their version, so that they are not
// there either when the object has been converted to it and back.
func (r *reader) outdate(ctx context.Context, x *keptObject, text []byte, gvk schema.GroupVersionKind) error {
	if r.converter == nil {
		return nil
	}
	back := map[string]map[string]string{} // annotations, by version
	for i := range x.Kept {
		k := &x.Kept[i]
		if kind := r.converter.Registry.Lookup(gvk.GroupKind()); kind == nil || !kind.Has(k.Version) || k.Version == gvk.Version {
			continue
		}
		if back[k.Version] == nil {
			there, err := r.converter.Convert(ctx, text, k.Version)
			if err == nil {
				there, err = r.converter.Convert(ctx, there, gvk.Version)
			}
			if err != nil {
				return err
			}
			back[k.Version] = offline.AnnotationsOf(there)
		}
		_, returns := back[k.Version][k.Name]
		k.Outdated = new(!returns)
	}
	return nil
}

// load reads the rules that are given.
func (r *reader) load(ctx context.Context) error {
	set, err := r.o.ruled.Load(ctx, r.p, r.o.ruled.Check(r.o.object))
	if err == nil && len(r.o.ruled.Rules) > 0 {
		r.converter, err = offline.New(r.p, set)
	}
	return err
}
