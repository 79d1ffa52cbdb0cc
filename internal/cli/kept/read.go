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

// An keptReader knows the CRD of a live object, and the converters if there are rules.
type keptReader struct {
	o         *keptOptions
	crds      []*crdwire.CRD
	converter *offline.Converter
}

// read returns the objects, and with an object of a cluster it remembers the CRD.
func (e *keptReader) read(ctx context.Context, p *voice.Program) ([]json.RawMessage, error) {
	if _, err := os.Stat(e.o.object); err != nil && e.o.object != offline.Stdin {
		kind, name, ok := strings.Cut(e.o.object, "/")
		if !ok || kind == "" || name == "" || strings.Contains(name, "/") {
			return nil, voice.Usage(fmt.Errorf("%q: neither a file nor an object of a cluster, write its path or KIND/NAME", e.o.object), "")
		}
		text, err := e.get(ctx, p, kind, name)
		return []json.RawMessage{text}, err
	}
	inputs, err := offline.Objects(p, []string{e.o.object})
	if err != nil {
		return nil, err
	}
	var texts []json.RawMessage
	for _, in := range inputs {
		for _, document := range in.Documents {
			texts = append(texts, document)
		}
	}
	return texts, nil
}

// get reads an object from a cluster.
func (e *keptReader) get(ctx context.Context, p *voice.Program, kind, name string) (json.RawMessage, error) {
	api, err := e.o.cluster.Client(p, "name a file, or ")
	if err != nil {
		return nil, err
	}
	e.o.ruled.Live = connect.NewReader(p, &connect.LiveFlags{Cluster: e.o.cluster}, api).CRDsOf
	crd, version, err := findCRD(ctx, api, kind)
	if err != nil {
		return nil, err
	}
	e.crds = []*crdwire.CRD{crd}
	resource := schema.GroupVersionResource{Group: crd.Spec.Group, Version: cmp.Or(version, connect.ReadAt(crd)), Resource: crd.Spec.Names.Plural}
	namespace := ""
	if crd.Spec.Scope == apiextensionsv1.NamespaceScoped {
		if namespace, err = e.o.cluster.DefaultNamespace(); err != nil {
			return nil, err
		}
	}
	var text json.RawMessage
	err = api.Get(ctx, cluster.CollectionPath(resource, namespace)+"/"+name, &text)
	return text, err
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

// load reads the rules and CRDs that are given.
func (e *keptReader) load(ctx context.Context, p *voice.Program) error {
	if err := e.o.ruled.Check(); err != nil {
		return voice.Usage(err, "")
	}
	if len(e.o.ruled.CRDPaths()) > 0 {
		_, files, err := offline.Texts(ctx, p, &e.o.ruled)
		if err != nil {
			return err
		}
		for _, file := range files {
			crds, err := crdwire.Parse(file.Text)
			if err != nil {
				return fmt.Errorf("%s: %w", file.Name, err)
			}
			e.crds = append(e.crds, crds...)
		}
	}
	if len(e.o.ruled.Rules) == 0 {
		return nil
	}
	_, registry, err := offline.Registry(ctx, p, &e.o.ruled)
	if err == nil {
		e.converter = offline.New(p, registry)
	}
	return err
}
