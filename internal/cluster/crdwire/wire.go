package crdwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/internal/document/yamledit"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// WireOptions say how CRDs are wired.
type WireOptions struct {
	Target         Target
	Bundle         Bundle   // empty: a caBundle for the same target stays
	ReviewVersions []string // of ConversionReview, the best first
	Names          []string // of the CRDs to wire; empty means all
	Force          bool     // also wire CRDs that point elsewhere
}

// A Wired is a CRD that Wire has wired.
type Wired struct {
	Name      string
	IsXRD     bool
	Claim     string // the CRD of an XRD's claims
	Versions  int
	HasBundle bool // or will have: an injector is asked for it
}

// Wire sets spec.conversion of the CRDs and XRDs in a YAML or JSON text, and returns the text, in
// which no other byte has changed. Documents of other kinds stay as they are. Its error has
// everything that is wrong.
func Wire(text []byte, o WireOptions) ([]byte, []Wired, error) {
	documents, crds, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	changed := map[int]bool{} // documents
	var all []Wired
	var problems []error
	for _, crd := range crds {
		name, claim := crd.name(), crd.claimCRD()
		if len(o.Names) > 0 && !slices.Contains(o.Names, name) && !slices.Contains(o.Names, claim) {
			continue
		}
		wired, err := o.wire(&crd)
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w", crd.line, crd.named(err)))
		}
		changed[crd.document] = true
		wired.Name, wired.Claim = name, claim
		all = append(all, wired)
	}
	for _, name := range o.Names {
		if !slices.ContainsFunc(all, func(c Wired) bool { return c.Name == name || c.Claim == name }) && len(problems) == 0 {
			problems = append(problems, fmt.Errorf("%s: no such %s here", name, crdKind))
		}
	}
	switch {
	case len(problems) > 0:
		return nil, nil, errors.Join(problems...)
	case len(all) == 0:
		return nil, nil, errors.New("no " + WhatIsRead + " here, name the file that has one")
	}
	result, err := edited(text, documents, changed)
	return result, all, err
}

// edited returns the text in which some documents are as they are here, and nothing else differs.
func edited(text []byte, documents []any, changed map[int]bool) ([]byte, error) {
	file, err := yamledit.ParseJSON(text)
	if err != nil || len(file.Documents) != len(documents) {
		file, err = yamledit.ParseYAML(text)
	}
	if err != nil {
		return nil, err
	}
	values := make([][]byte, len(documents))
	for i := range changed {
		if values[i], err = json.Marshal(documents[i]); err != nil {
			return nil, err
		}
	}
	result, err := file.Edit(values)
	return result.Text, err
}

// wire sets spec.conversion in the members of a CRD.
func (o *WireOptions) wire(crd *crdObject) (wired Wired, err error) {
	if err := crd.checkVersion(); err != nil {
		return wired, err
	}
	if owner, is := crd.owner(); is {
		return wired, fmt.Errorf("made by Crossplane of the XRD %s, and would be reverted, wire that XRD", owner)
	}
	spec, _ := crd.members["spec"].(map[string]any)
	if len(spec) == 0 {
		return wired, fmt.Errorf("%s without a spec", crd.members["kind"])
	}
	var now *apiextensionsv1.CustomResourceConversion
	readable, _ := xrd.WithBundle(crd.members)["spec"].(map[string]any)
	if err := decode(readable["conversion"], &now); err != nil {
		return wired, fmt.Errorf("spec.conversion cannot be read: %w", err)
	}
	if err := elsewhere(now, o.Target); err != nil && !o.Force {
		return wired, err
	}
	bundle := o.Bundle.PEM()
	if at, is := targetOf(now); is && len(bundle) == 0 && at.Same(o.Target) && len(ReadableBundle(now.Webhook.ClientConfig.CABundle)) > 0 {
		bundle = now.Webhook.ClientConfig.CABundle
	}
	spec["conversion"] = tree(o.Target.conversion(o.ReviewVersions, bundle))
	versions, _ := spec["versions"].([]any)
	annotations, _, _ := unstructured.NestedStringMap(crd.members, "metadata", "annotations") // none if others than texts are there
	injected, _ := injector(annotations)
	isXRD := crd.isXRD() // there it has no effect
	return Wired{IsXRD: isXRD, Versions: len(versions), HasBundle: len(bundle) > 0 || injected != "" && !isXRD}, nil
}
