package crdwire

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/review/reviewclient"
)

// A Probe is a test review: an object at each of some versions, to be converted to one. The objects
// have only a name, as server-side apply may send them.
type Probe struct {
	Kind schema.GroupKind
	From []string // empty: a review of no objects, which any webhook answers
	To   string
	uid  string
}

const probeName = "webhookd-probe" // of each object

// probes returns a Probe to each version of a CRD, so all pairs are tried. A CRD with one version
// has nothing to convert: its probe is an object that is already at that version.
func probes(crd *CRD) []Probe {
	kind := schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}
	names := versionNames(crd)
	all := make([]Probe, len(names))
	for i, to := range names {
		from := slices.Delete(slices.Clone(names), i, i+1)
		if len(names) == 1 {
			from = names
		}
		all[i] = Probe{Kind: kind, From: from, To: to}
	}
	return all
}

func versionNames(crd *CRD) []string {
	names := make([]string, len(crd.Spec.Versions))
	for i, v := range crd.Spec.Versions {
		names[i] = v.Name
	}
	return names
}

// String says what is tried.
func (p *Probe) String() string {
	if len(p.From) == 0 {
		return "a review of no objects"
	}
	return fmt.Sprintf("%s %s -> %s", p.Kind, strings.Join(p.From, ", "), p.To)
}

// Review returns the review to post, of a version of ConversionReview, v1 or v1beta1, with a new
// uid.
func (p *Probe) Review(version string) []byte {
	p.uid = probeName + "-" + rand.Text()
	objects := make([][]byte, len(p.From))
	for i, from := range p.From {
		objects[i], _ = json.Marshal(map[string]any{ // strings can always be encoded
			"apiVersion": p.Kind.Group + "/" + from, "kind": p.Kind.Kind, "metadata": map[string]any{"name": probeName},
		})
	}
	return reviewclient.Request(version, p.uid, p.Kind.Group+"/"+p.To, objects...)
}

// Check checks the answer to the last Review.
func (p *Probe) Check(answer []byte) error {
	converted, err := CheckAnswer(answer, p.uid, p.Kind.Group+"/"+p.To, len(p.From))
	if err != nil {
		return err
	}
	for i, text := range converted {
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(text, &object); err != nil || object.Kind != p.Kind.Kind || object.Name != probeName {
			return fmt.Errorf("answer with another object than requested: objects[%d]", i)
		}
	}
	return nil
}

// CheckAnswer reads the answer to the review with a uid, which asked for a number of objects at an
// apiVersion, as the API server does, and returns the objects.
func CheckAnswer(answer []byte, uid, apiVersion string, objects int) ([]json.RawMessage, error) {
	var review apiextensionsv1.ConversionReview
	err := json.Unmarshal(answer, &review)
	switch group, _, _ := strings.Cut(review.APIVersion, "/"); {
	case err != nil:
		return nil, fmt.Errorf("answer is not a ConversionReview: %w", err)
	case review.Kind != "ConversionReview" || group != apiextensionsv1.GroupName:
		return nil, errors.New("answer is not a ConversionReview, something else listens there")
	case review.Response == nil:
		return nil, errors.New("answer without a response")
	case string(review.Response.UID) != uid:
		return nil, fmt.Errorf("answer to another review: uid %q, not %q", review.Response.UID, uid)
	case review.Response.Result.Status != metav1.StatusSuccess:
		return nil, fmt.Errorf("review failed: %s", review.Response.Result.Message)
	case len(review.Response.ConvertedObjects) != objects:
		return nil, fmt.Errorf("answer has %d objects, not %d", len(review.Response.ConvertedObjects), objects)
	}
	converted := make([]json.RawMessage, objects)
	for i, object := range review.Response.ConvertedObjects {
		var is metav1.TypeMeta
		if err := json.Unmarshal(object.Raw, &is); err != nil || is.APIVersion != apiVersion {
			return nil, fmt.Errorf("answer with an object that is not at the requested version: objects[%d]", i)
		}
		converted[i] = object.Raw
	}
	return converted, nil
}

// Try posts the probe and checks the answer.
func (p *Probe) Try(ctx context.Context, e *Endpoint, version string) error {
	answer, err := e.Post(ctx, p.Review(version))
	if err == nil {
		err = p.Check(answer)
	}
	if err != nil {
		return fmt.Errorf("%s, asked for %s: %w", e.Target, p, err)
	}
	return nil
}
