package crdwire

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// WhatIsRead names the objects that Parse and Wire read.
const WhatIsRead = crdKind + " of apiextensions.k8s.io/v1 or " + xrd.Kind + " of " + xrd.Group

// ReadDefinition reads the XRD of which Crossplane makes a CRD, in the form of a CRD: its TypeMeta
// is that of the XRD, and its versions lack schemas. spec.conversion belongs into it, since
// Crossplane reverts that of the CRD. The second result is the CRD of its claims, without schemas
// and spec.conversion, or nil. Both are nil for a CRD that Crossplane does not make.
func ReadDefinition(ctx context.Context, api *cluster.Client, crd *CRD) (definition, claim *CRD, err error) {
	owner, is := xrd.Owner(crd)
	if !is {
		return nil, nil, nil
	}
	path := definitionPath(owner.APIVersion, owner.Name)
	var text json.RawMessage
	if err = api.Get(ctx, path, &text); err == nil {
		definition, claim, err = parseDefinition(text)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: made by Crossplane of the XRD %s, which has to have spec.conversion: %w", crd.Name, owner.Name, err)
	}
	return definition, claim, nil
}

func parseDefinition(text []byte) (definition, claim *CRD, err error) {
	var n needed
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, nil, fmt.Errorf("%s that cannot be read: %w", xrd.Kind, err)
	}
	definition = n.crd()
	if n.Spec.ClaimNames != nil {
		claim = &CRD{}
		claim.Name = n.Spec.ClaimNames.Plural + "." + n.Spec.Group
		claim.Spec.Group, claim.Spec.Names, claim.Spec.Versions = n.Spec.Group, *n.Spec.ClaimNames, definition.Spec.Versions
	}
	return definition, claim, nil
}

// IsDefinition reports whether a CRD is the form of an XRD that ReadDefinition returns.
func IsDefinition(crd *CRD) bool { return xrd.Is(crd.APIVersion, crd.Kind) }

func definitionPath(apiVersion, name string) string {
	return "/apis/" + apiVersion + "/compositeresourcedefinitions/" + name
}

// pathOf returns the path of a CRD, or of the XRD whose form it is.
func pathOf(crd *CRD) string {
	if IsDefinition(crd) {
		return definitionPath(crd.APIVersion, crd.Name)
	}
	return Path(crd.Name)
}

// reread reads a CRD again, or the XRD whose form it is.
func reread(ctx context.Context, api *cluster.Client, crd *CRD) (*CRD, error) {
	if !IsDefinition(crd) {
		return Read(ctx, api, crd.Name)
	}
	var text json.RawMessage
	if err := api.Get(ctx, pathOf(crd), &text); err != nil {
		return nil, err
	}
	definition, _, err := parseDefinition(text)
	return definition, err
}

// A subject is a CRD, or the form of an XRD, whose spec.conversion is to be set.
type subject struct {
	*CRD

	// made are the CRDs that Crossplane makes of the XRD.
	made []*CRD
}

// read reads what is to be wired to convert the kind of a CRD.
func (o *ApplyOptions) read(ctx context.Context, api *cluster.Client, name string) (*subject, error) {
	crd, err := Read(ctx, api, name)
	if err != nil {
		if apierrors.IsNotFound(err) {
			err = fmt.Errorf("%s: there is no such CRD, install it first", name)
		}
		return nil, err
	}
	definition, claim, err := ReadDefinition(ctx, api, crd)
	if err != nil || definition == nil {
		return &subject{CRD: crd}, err
	}
	o.Log("%s: Crossplane makes this CRD of the XRD %s, and would revert it: the XRD gets spec.conversion", name, definition.Name)
	composite := *definition
	s := &subject{CRD: definition, made: []*CRD{&composite}}
	if claim != nil {
		s.made = append(s.made, claim)
	}
	return s, nil
}

// probes returns the test reviews of all kinds that the subject converts.
func (s *subject) probes() []Probe {
	if len(s.made) == 0 {
		return probes(s.CRD)
	}
	var all []Probe
	for _, crd := range s.made {
		all = append(all, probes(crd)...)
	}
	return all
}

// carriedOver waits until Crossplane has written spec.conversion of an XRD to the CRDs that it
// makes: only then they are converted.
func (o *ApplyOptions) carriedOver(waiting context.Context, api *cluster.Client, s *subject, want any) error {
	for _, made := range s.made {
		o.Log("%s: waiting for Crossplane to take over spec.conversion of the XRD %s", made.Name, s.Name)
		for pause := firstPause; ; pause = min(2*pause, maxPause) {
			crd, err := Read(waiting, api, made.Name)
			if err == nil && reflect.DeepEqual(any(crd.Spec.Conversion), want) {
				break
			}
			select {
			case <-waiting.Done():
				return fmt.Errorf("%s: the XRD %s has spec.conversion, but Crossplane did not write it to the CRD within %s, see the conditions of the XRD and the log of Crossplane",
					made.Name, s.Name, o.Timeout)
			case <-time.After(pause):
			}
		}
	}
	return nil
}
