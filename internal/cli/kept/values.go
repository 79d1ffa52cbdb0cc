package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// explain explains an object, or the items of a list.
func (e *keptReader) explain(ctx context.Context, text []byte) ([]*keptObject, error) {
	var object annotated
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("%s: cannot read the object: %w", offline.NamesOf([]string{e.o.object}), err)
	}
	if strings.HasSuffix(object.Kind, "List") && object.Metadata.Name == "" {
		var all []*keptObject
		for _, item := range object.Items {
			explained, err := e.explain(ctx, item)
			if err != nil {
				return nil, err
			}
			all = append(all, explained...)
		}
		return all, nil
	}
	group, version, _ := strings.Cut(object.APIVersion, "/")
	gvk := schema.GroupVersionKind{Group: group, Version: version, Kind: object.Kind}
	if manifest.IsDefinition(gvk) || object.APIVersion == syntax.APIVersion {
		return nil, voice.Usage(fmt.Errorf("not an object with kept values: %s of %s", object.Kind, offline.NamesOf([]string{e.o.object})), offline.HintKind(gvk))
	}
	x := &keptObject{
		Object: object.Kind + " " + strings.TrimPrefix(object.Metadata.Namespace+"/"+object.Metadata.Name, "/"), Version: version,
		Limit: offline.MaxAnnotations, Kept: []keptEntry{}, Versions: []keptVersion{},
	}
	for name, value := range object.Metadata.Annotations {
		size := len(name) + len(value)
		x.AnnotationBytes += size
		if keep.IsOwn(name) {
			x.KeptBytes += size
			x.add(name, value, size, e.o)
		}
	}
	slices.SortFunc(x.Kept, func(a, b keptEntry) int {
		return cmp.Or(strings.Compare(a.Version, b.Version), strings.Compare(a.Annotation, b.Annotation))
	})
	if err := e.outdate(ctx, x, text, gvk); err != nil {
		return nil, err
	}
	x.versions(&object, e.crdOfKind(group, object.Kind))
	return []*keptObject{x}, nil
}

func (e *keptReader) crdOfKind(group, kind string) *crdwire.CRD {
	for _, crd := range e.crds {
		if crd.Spec.Group == group && crd.Spec.Names.Kind == kind {
			return crd
		}
	}
	return nil
}

// add adds an annotation.
func (x *keptObject) add(name, value string, size int, o *keptOptions) {
	kept := keep.Describe(name, value)
	if len(kept.Values) == 0 {
		x.others++
		return
	}
	if o.version != "" && o.version != kept.Version {
		return
	}
	k := keptEntry{Version: kept.Version, Annotation: name, Bytes: size}
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
func (e *keptReader) outdate(ctx context.Context, x *keptObject, text []byte, gvk schema.GroupVersionKind) error {
	if e.converter == nil {
		return nil
	}
	back := map[string]map[string]string{} // annotations, by version
	for i := range x.Kept {
		of := x.Kept[i].Version
		if kind := e.converter.Registry.Lookup(gvk.GroupKind()); kind == nil || !kind.Has(of) || of == gvk.Version {
			continue
		}
		if _, known := back[of]; !known {
			annotations, err := e.roundTrip(ctx, text, gvk, of)
			if err != nil {
				return err
			}
			back[of] = annotations
		}
		_, returns := back[of][x.Kept[i].Annotation]
		outdated := !returns
		x.Kept[i].Outdated = &outdated
	}
	return nil
}

// roundTrip returns the annotations of an object that was converted to a version and back.
func (e *keptReader) roundTrip(ctx context.Context, text []byte, gvk schema.GroupVersionKind, to string) (map[string]string, error) {
	own := gvk.Version
	for _, version := range []string{to, own} {
		e.converter.Version = version
		converted, err := e.converter.Object(ctx, text, gvk)
		if err != nil {
			return nil, err
		}
		text, gvk.Version = converted, version
	}
	return offline.AnnotationsOf(text), nil
}

// versions says for each version with kept values how long they are needed.
func (x *keptObject) versions(object *annotated, crd *crdwire.CRD) {
	group, _, _ := strings.Cut(object.APIVersion, "/")
	for _, k := range x.Kept {
		if slices.ContainsFunc(x.Versions, func(v keptVersion) bool { return v.Version == k.Version }) {
			continue
		}
		v := keptVersion{Version: k.Version}
		for _, entry := range object.Metadata.ManagedFields {
			if entry.APIVersion == group+"/"+k.Version && entry.Time != nil && (v.LastWrite == nil || v.LastWrite.Before(entry.Time)) {
				v.LastWrite, v.Manager = entry.Time, entry.Manager
			}
		}
		v.judge(crd)
		x.Versions = append(x.Versions, v)
	}
}

// judge says whether clients can still read the version. Kubernetes does not record since when one
// is not served; the last change of the CRD is the latest time that it can be.
func (v *keptVersion) judge(crd *crdwire.CRD) {
	if crd == nil {
		v.Says = "needed as long as " + v.Version + " is served, which its CRD says: give it with --crds, or name the object as KIND/NAME"
		return
	}
	served, exists := false, false
	for _, of := range crd.Spec.Versions {
		if of.Name == v.Version {
			served, exists = of.Served, true
		}
	}
	droppable := !served
	v.Droppable = &droppable
	since := ""
	if changed := lastChange(crd.ManagedFields); droppable && changed != nil {
		since = ", at the latest since the last change of the CRD at " + changed.UTC().Format(time.RFC3339)
	}
	switch {
	case served:
		v.Says = "needed as long as clients read or write " + v.Version + ", which is served"
		if v.LastWrite != nil {
			v.Says += "; the last write at it was at " + v.LastWrite.UTC().Format(time.RFC3339) + " by " + v.Manager
		} else {
			v.Says += "; managedFields has no write at it"
		}
	case exists:
		v.Says = v.Version + " is not served" + since + ": no client can read these values, and they can be dropped if it stays so"
	default:
		v.Says = v.Version + " is not a version of the CRD" + since + ": no client can read these values, so they can be dropped"
	}
}

func lastChange(entries []metav1.ManagedFieldsEntry) *metav1.Time {
	var last *metav1.Time
	for i := range entries {
		if at := entries[i].Time; entries[i].Subresource == "" && at != nil && (last == nil || last.Before(at)) {
			last = at
		}
	}
	return last
}
