package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// A reader reads objects, their CRDs, and the converters if there are rules.
type reader struct {
	p         *voice.Program
	o         *keptOptions
	crds      []*crdwire.CRD
	converter *offline.Converter // or nil
	versions  []string           // of the CRDs of the objects
}

// checkVersion reports a --version of which nothing is kept: an error if no CRD of the objects has
// it. Values of versions that are gone may still be kept.
func (r *reader) checkVersion(all []*keptObject) error {
	version := r.o.version
	if version == "" || slices.ContainsFunc(all, func(x *keptObject) bool { return len(x.Kept) > 0 }) {
		return nil
	}
	if len(r.versions) > 0 && !slices.Contains(r.versions, version) {
		return voice.Usage(fmt.Errorf("--version %q: no such version, choose one of %s", version, offline.Few(r.versions)), "")
	}
	r.p.Note("--version %q: no object keeps values of this version", version)
	return nil
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
		Limit: offline.MaxAnnotations, Kept: []keptAnnotation{}, Versions: []keptVersion{},
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
	i := slices.IndexFunc(r.crds, func(c *crdwire.CRD) bool { return c.Spec.Group == gvk.Group && c.Spec.Names.Kind == gvk.Kind })
	if i >= 0 {
		for _, v := range r.crds[i].Spec.Versions {
			r.versions = append(r.versions, v.Name)
		}
	}
	for _, k := range x.Kept {
		if n := len(x.Versions); n > 0 && x.Versions[n-1].Version == k.Version {
			continue
		}
		v := keptVersion{Version: k.Version}
		of := schema.GroupVersion{Group: gvk.Group, Version: k.Version}.String()
		if last := lastChange(object.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.APIVersion == of }); last != nil {
			v.LastWrite, v.Manager = last.Time, last.Manager
		}
		if i < 0 {
			v.Says = "needed as long as " + v.Version + " is served, which its CRD says: give it with --crds, or name the object as KIND/NAME"
		} else {
			v.judge(r.crds[i])
		}
		x.Versions = append(x.Versions, v)
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
	if o.version != "" && o.version != kept.Version {
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

// judge says whether clients can still read the version. Kubernetes does not record since when one
// is not served; the last change of the CRD is the latest time that it can be.
func (v *keptVersion) judge(crd *crdwire.CRD) {
	i := slices.IndexFunc(crd.Spec.Versions, func(of apiextensionsv1.CustomResourceDefinitionVersion) bool { return of.Name == v.Version })
	served, since := i >= 0 && crd.Spec.Versions[i].Served, ""
	v.Droppable = new(!served)
	if last := lastChange(crd.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "" }); last != nil {
		since = ", at the latest since the last change of the CRD at " + last.Time.UTC().Format(time.RFC3339)
	}
	switch {
	case served && v.LastWrite != nil:
		v.Says = fmt.Sprintf("needed as long as clients read or write %s, which is served; the last write at it was at %s by %s",
			v.Version, v.LastWrite.UTC().Format(time.RFC3339), v.Manager)
	case served:
		v.Says = "needed as long as clients read or write " + v.Version + ", which is served; managedFields has no write at it"
	case i >= 0:
		v.Says = v.Version + " is not served" + since + ": no client can read these values, and they can be dropped if it stays so"
	default:
		v.Says = v.Version + " is not a version of the CRD" + since + ": no client can read these values, so they can be dropped"
	}
}

// lastChange returns the last of some entries that have a time, or nil.
func lastChange(entries []metav1.ManagedFieldsEntry, counts func(metav1.ManagedFieldsEntry) bool) (last *metav1.ManagedFieldsEntry) {
	for i := range entries {
		if e := &entries[i]; e.Time != nil && counts(*e) && (last == nil || last.Time.Before(e.Time)) {
			last = e
		}
	}
	return last
}

// objects returns the objects. With an object of a cluster it remembers the CRD.
func (r *reader) objects(ctx context.Context) ([][]byte, error) {
	if _, err := os.Stat(r.o.object); err != nil && r.o.object != offline.Stdin {
		kind, name, ok := strings.Cut(r.o.object, "/")
		if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, voice.Usage(fmt.Errorf("%q: neither a file nor an object of a cluster, write its path or KIND/NAME", r.o.object), "")
		}
		text, err := r.get(ctx, kind, name)
		return [][]byte{text}, err
	}
	files, err := offline.Objects(r.p, []string{r.o.object})
	var texts [][]byte
	for _, file := range files {
		texts = append(texts, file.Documents...)
	}
	return texts, err
}

// get reads an object from a cluster.
func (r *reader) get(ctx context.Context, kind, name string) (json.RawMessage, error) {
	live, err := (&connect.LiveFlags{Cluster: r.o.cluster}).Reader(r.p, "name a file, or ", &r.o.ruled)
	if err != nil {
		return nil, err
	}
	crd, version, err := findCRD(ctx, live.API, kind)
	if err != nil {
		return nil, err
	}
	r.crds = []*crdwire.CRD{crd}
	resource := schema.GroupVersionResource{Group: crd.Spec.Group, Version: cmp.Or(version, connect.ReadAt(crd)), Resource: crd.Spec.Names.Plural}
	namespace := ""
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		if namespace, err = r.o.cluster.DefaultNamespace(); err != nil {
			return nil, err
		}
	}
	var text json.RawMessage
	err = live.API.Get(ctx, cluster.CollectionPath(resource, namespace)+"/"+name, &text)
	return text, err
}

// load reads the rules and CRDs that are given.
func (r *reader) load(ctx context.Context) error {
	set, err := r.o.ruled.Load(ctx, r.p, r.o.ruled.Check(r.o.object))
	if err != nil {
		return err
	}
	for _, file := range set.CRDFiles {
		crds, err := crdwire.Parse(file.Text)
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		r.crds = append(r.crds, crds...)
	}
	if len(r.o.ruled.Rules) > 0 {
		r.converter, err = offline.New(r.p, set)
	}
	return err
}

// findCRD returns the CRD that a kind means to kubectl, and the version if the kind names it. It
// lists CRDs only if the kind is not the name of one.
func findCRD(ctx context.Context, api *cluster.Client, kind string) (crd *crdwire.CRD, version string, err error) {
	if strings.Contains(kind, ".") {
		if crd, err = crdwire.Read(ctx, api, kind); !apierrors.IsNotFound(err) {
			return crd, "", err
		}
	}
	crds, _, err := crdwire.ReadAll(ctx, api, nil)
	if err != nil {
		return nil, "", err
	}
	return crdOf(crds, kind)
}

// crdOf returns the CRD of a kind: its name, PLURAL.VERSION.GROUP with the version, the plural, the
// singular, the kind or a short name.
func crdOf(crds []*crdwire.CRD, kind string) (crd *crdwire.CRD, version string, err error) {
	var found []*crdwire.CRD
	for _, c := range crds {
		names := append([]string{c.Name, c.Spec.Names.Plural, c.Spec.Names.Singular, strings.ToLower(c.Spec.Names.Kind)}, c.Spec.Names.ShortNames...)
		if slices.Contains(names, strings.ToLower(kind)) {
			found = append(found, c)
		}
		for _, v := range c.Spec.Versions {
			if kind == c.Spec.Names.Plural+"."+v.Name+"."+c.Spec.Group {
				return c, v.Name, nil
			}
		}
	}
	switch len(found) {
	case 1:
		return found[0], "", nil
	case 0:
		return nil, "", voice.Usage(fmt.Errorf("%s: no CRD of this kind in the cluster, write PLURAL.GROUP/NAME", kind), "")
	}
	var names []string
	for _, c := range found {
		names = append(names, c.Name)
	}
	return nil, "", voice.Usage(fmt.Errorf("%s: several CRDs with this name, write one of %s", kind, strings.Join(names, ", ")), "")
}
