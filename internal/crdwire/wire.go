package crdwire

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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
	Claim     string // the CRD of an XRD's claims
	Versions  int
	HasBundle bool
}

// Wire sets spec.conversion of the CRDs and XRDs in a YAML or JSON text, and returns the text, in
// which no other byte has changed. Documents of other kinds stay as they are. Its error has
// everything that is wrong.
func Wire(text []byte, o WireOptions) ([]byte, []Wired, error) {
	documents, crds, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	s := &splicer{source: newSource(text)}
	var all []Wired
	var problems []error
	for _, crd := range crds {
		name, claim := crd.name(), crd.claimCRD()
		if len(o.Names) > 0 && !slices.Contains(o.Names, name) && !slices.Contains(o.Names, claim) {
			continue
		}
		wired, err := o.wire(s, &crd)
		if err != nil {
			problems = append(problems, fmt.Errorf("line %d: %w: %s", crd.node.Line, err, name))
		}
		wired.Name, wired.Claim = name, claim
		all = append(all, wired)
	}
	for _, name := range o.Names {
		if !slices.ContainsFunc(all, func(c Wired) bool { return c.Name == name || c.Claim == name }) && len(problems) == 0 {
			problems = append(problems, fmt.Errorf("no such %s here: %s", crdKind, name))
		}
	}
	switch {
	case len(problems) > 0:
		return nil, nil, errors.Join(problems...)
	case len(all) == 0:
		return nil, nil, errors.New("no " + WhatIsRead + " here")
	}
	// The result must be the documents with spec.conversion: if YAML is written in a way that the
	// splicer does not know, no result is better than a wrong one.
	result := s.result()
	if got, _, err := parse(result); err != nil || !reflect.DeepEqual(documents, got) {
		return nil, nil, errors.New("this YAML is written in a way that cannot be changed in place: write spec without anchors, aliases and merge keys")
	}
	return result, all, nil
}

// wire sets spec.conversion of a CRD in the text and in its members.
func (o *WireOptions) wire(s *splicer, crd *crdObject) (wired Wired, err error) {
	if err := crd.checkVersion(); err != nil {
		return wired, err
	}
	if owner, is := crd.owner(); is {
		return wired, fmt.Errorf("made by Crossplane of the XRD %s, and would be reverted, wire that XRD", owner)
	}
	key, node := find(crd.node, "spec")
	spec, isObject := crd.members["spec"].(map[string]any)
	if !isObject || node == nil || node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		return wired, fmt.Errorf("%s without a spec", crd.members["kind"])
	}
	var now *apiextensionsv1.CustomResourceConversion
	if err := decode(spec["conversion"], &now); err != nil {
		return wired, fmt.Errorf("spec.conversion cannot be read: %w", err)
	}
	if err := elsewhere(now, o.Target); err != nil && !o.Force {
		return wired, err
	}
	bundle := o.Bundle.PEM()
	if at, is := targetOf(now); is && len(bundle) == 0 && at.Same(o.Target) {
		bundle = now.Webhook.ClientConfig.CABundle
	}
	conversion := member{"conversion", o.Target.members(o.ReviewVersions, bundle)}
	s.setFirst(key, node, conversion)
	spec["conversion"] = tree(conversion.value)
	versions, _ := spec["versions"].([]any)
	return Wired{Versions: len(versions), HasBundle: len(bundle) > 0}, nil
}
