package kept

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// A reader reads objects, their CRDs, and the converters if there are rules.
type reader struct {
	p         *voice.Program
	o         *keptOptions
	crds      []*crdwire.CRD
	converter *offline.Converter // or nil
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
	api, err := r.o.cluster.Client(r.p, "name a file, or ")
	if err != nil {
		return nil, err
	}
	r.o.ruled.Live = connect.NewReader(r.p, &connect.LiveFlags{Cluster: r.o.cluster}, api).CRDsOf
	crd, version, err := findCRD(ctx, api, kind)
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
	err = api.Get(ctx, cluster.CollectionPath(resource, namespace)+"/"+name, &text)
	return text, err
}

// load reads the rules and CRDs that are given.
func (r *reader) load(ctx context.Context) error {
	if err := r.o.ruled.Check(r.o.object); err != nil {
		return voice.Usage(err, "")
	}
	set, err := r.o.ruled.Load(ctx, r.p)
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
