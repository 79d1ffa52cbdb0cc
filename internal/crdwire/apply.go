package crdwire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/kubeapi"
)

const (
	// overlap is how long a CA stays in caBundle at least after another one has come into it.
	overlap = 24 * time.Hour
	// looks is how often in a row, each time over new connections, answers must be good before a CRD is pointed at a webhook,
	// and served from the new CA before the old one goes: a Service has replicas, which change one after the other.
	looks = 10
	// tries is how often an object that others change at the same time is read again.
	tries = 5

	firstPause = 500 * time.Millisecond
	maxPause   = 5 * time.Second
)

// ApplyOptions say how CRDs in a cluster are wired.
type ApplyOptions struct {
	Target         Target
	Bundle         Bundle
	ReviewVersions []string
	Address        string        // to connect to instead of the Service's name
	Timeout        time.Duration // to wait for answers, those of all CRDs
	Force          bool
	Now            func() time.Time
	Log            func(format string, args ...any) // tells what is done
}

// Apply waits until the webhook answers test reviews of these CRDs, ten times in a row, and points them at it by server-side apply.
//
// A caBundle that is there for the same target is not replaced at once: replicas may still serve what the old CA has
// issued. Its CAs stay in the bundle until they expire, or until the new ones have been in it for a day and ten new
// connections were all served from them.
//
// Where something is wrong with one CRD, no other one is pointed at the webhook; those that point at it already are brought up to date.
func Apply(ctx context.Context, api *kubeapi.Client, names []string, o ApplyOptions) error {
	crds := make([]*CRD, 0, len(names))
	var problems []error
	for _, name := range names {
		crd, err := Read(ctx, api, name)
		switch {
		case apierrors.IsNotFound(err):
			err = fmt.Errorf("there is no such CRD, install it first: %s", name)
		case err == nil:
			err = o.refuse(crd)
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		crds = append(crds, crd)
	}
	if len(problems) > 0 {
		if crds = o.here(crds); len(crds) == 0 {
			return errors.Join(problems...)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	crds, err := o.wait(waiting, crds) // all of them, before the first is changed
	if err != nil {
		problems = append(problems, err)
		crds = o.here(crds)
	}
	switch {
	case len(crds) == 0:
		return fmt.Errorf("no CRD was changed: %w", errors.Join(problems...))
	case len(problems) > 0:
		problems = []error{fmt.Errorf("no other CRD was pointed at %s: %w", o.Target, errors.Join(problems...))}
	}
	for _, crd := range crds { // all of them, whatever becomes of the others: one may need the CA at once
		if err := o.apply(ctx, waiting, api, crd); err != nil {
			problems = append(problems, err)
		}
		if err := ctx.Err(); err != nil {
			break
		}
	}
	return errors.Join(problems...)
}

// here returns the CRDs that point at the target already. They may need a CA, whatever is wrong with another one.
func (o *ApplyOptions) here(crds []*CRD) []*CRD {
	return slices.DeleteFunc(crds, func(crd *CRD) bool {
		at, is := TargetOf(crd)
		return !is || !at.Same(o.Target)
	})
}

func (o *ApplyOptions) refuse(crd *CRD) error {
	if err := elsewhere(crd.Spec.Conversion, o.Target); err != nil && !o.Force {
		return fmt.Errorf("%w: %s", err, crd.Name)
	}
	return nil
}

// bundle returns what caBundle of a CRD is to be.
func (o *ApplyOptions) bundle(ctx context.Context, crd *CRD) Bundle {
	at, is := TargetOf(crd)
	if !is || !at.Same(o.Target) {
		return o.Bundle
	}
	now := o.Now()
	old := slices.DeleteFunc(BundleOf(crd).Unexpired(now), o.Bundle.Has)
	if len(old) == 0 || BundleOf(crd).HasAll(o.Bundle) && o.bundleSince(crd, now) >= overlap && o.servesOnlyNew(ctx) {
		return o.Bundle
	}
	return o.Bundle.With(old)
}

// bundleSince returns how long caBundle has been what it is; 0 where nobody has noted it.
func (o *ApplyOptions) bundleSince(crd *CRD, now time.Time) time.Duration {
	var latest time.Time
	for _, owner := range ownersOf(crd, "spec", "conversion", "webhook", "clientConfig", "caBundle") {
		if owner.since.After(latest) {
			latest = owner.since
		}
	}
	if latest.IsZero() {
		return 0
	}
	return now.Sub(latest)
}

func (o *ApplyOptions) servesOnlyNew(ctx context.Context) bool {
	e := Endpoint{Target: o.Target, Address: o.Address}
	for range looks {
		chain, err := e.Served(ctx)
		if err != nil || o.Bundle.Verifies(chain, o.Target.ServerName(), o.Now()) != nil {
			return false
		}
	}
	return true
}

// wait tries the probes of CRDs until they all succeed, again and again, or ctx ends, and returns the CRDs of which they did. Rules
// and certificates reach a running webhookd up to two minutes after they were written, and one replica after the other, so no
// answer is final.
func (o *ApplyOptions) wait(ctx context.Context, crds []*CRD) (good []*CRD, err error) {
	left, said := slices.Clone(crds), map[*CRD]string{}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		left = slices.DeleteFunc(left, func(crd *CRD) bool {
			err := o.try(ctx, crd)
			if err == nil {
				good = append(good, crd)
				return true
			}
			if text := err.Error(); text != said[crd] && (ctx.Err() == nil || said[crd] == "") {
				said[crd] = text
				o.Log("%s: waiting: %s", crd.Name, text)
			}
			return false
		})
		if len(left) == 0 {
			return good, nil
		}
		select {
		case <-ctx.Done():
			problems := make([]error, 0, len(left))
			for _, crd := range left {
				problems = append(problems, fmt.Errorf("no good answer within %s: %s: %s", o.Timeout, crd.Name, said[crd]))
			}
			return good, errors.Join(problems...)
		case <-time.After(pause):
		}
	}
}

func (o *ApplyOptions) try(ctx context.Context, crd *CRD) error {
	e := &Endpoint{Target: o.Target, Bundle: o.bundle(ctx, crd), Address: o.Address}
	all := probes(crd)
	for range looks {
		for i := range all {
			if err := all[i].Try(ctx, e, o.ReviewVersions[0]); err != nil {
				return err
			}
		}
	}
	if len(all) == 1 {
		o.Log("%s: %s answers; the CRD has one version, so that there is nothing to convert yet", crd.Name, o.Target)
		return nil
	}
	o.Log("%s: %s converts between all of %s", crd.Name, o.Target, strings.Join(versionNames(crd), ", "))
	return nil
}

// apply changes spec.conversion of a CRD. Others may change the CRD at the same time: then it is looked at again, and good
// answers for versions that have come are waited for until the other context ends.
func (o *ApplyOptions) apply(ctx, waiting context.Context, api *kubeapi.Client, crd *CRD) error {
	for try := 1; ; try++ {
		bundle := o.bundle(ctx, crd)
		conversion := tree(o.Target.members(o.ReviewVersions, bundle.PEM()))
		err := o.fromURL(ctx, api, crd, bundle)
		if err == nil {
			err = applyFields(ctx, api, crd, ManagerWire, o.Force, map[string]any{"conversion": conversion})
		}
		if err == nil {
			err = o.verify(ctx, api, crd.Name, bundle)
			if err == nil && len(bundle) > len(o.Bundle) {
				o.Log("%s: caBundle keeps %d older CA, see --help", crd.Name, len(bundle)-len(o.Bundle))
			}
			return err
		}
		_, conflict := errors.AsType[*ConflictError](err)
		if !kubeapi.IsChanged(err) && !conflict || try == tries {
			return err
		}
		fresh, readErr := Read(ctx, api, crd.Name)
		switch {
		case readErr != nil:
			return readErr
		case conflict && fresh.ResourceVersion == crd.ResourceVersion:
			return err
		}
		if err := o.refuse(fresh); err != nil {
			return err
		}
		if !slices.Equal(versionNames(fresh), versionNames(crd)) {
			if _, err := o.wait(waiting, []*CRD{fresh}); err != nil {
				return err
			}
		}
		crd = fresh
	}
}

// fromURL gives a CRD that has a URL its new conversion, since server-side apply cannot remove the URL of somebody else. It is
// all in one request: with the Service, but the CA and the path of the URL, nothing could be read until the next one.
func (o *ApplyOptions) fromURL(ctx context.Context, api *kubeapi.Client, crd *CRD, bundle Bundle) error {
	if at, is := TargetOf(crd); !is || at.IsService() {
		return nil
	}
	patch := map[string]any{
		"metadata": map[string]any{"resourceVersion": crd.ResourceVersion},
		"spec": map[string]any{"conversion": map[string]any{
			"strategy": apiextensionsv1.WebhookConverter,
			"webhook": map[string]any{
				"conversionReviewVersions": o.ReviewVersions,
				"clientConfig": map[string]any{
					"url": nil, "caBundle": bundle.PEM(),
					"service": map[string]any{"namespace": o.Target.Namespace, "name": o.Target.Name, "path": o.Target.Path, "port": o.Target.Port},
				},
			},
		}},
	}
	var fresh needed // not crd itself: what is gone would stay in it
	if err := api.MergePatch(ctx, Path(crd.Name), patch, &fresh); err != nil {
		return err
	}
	*crd = *fresh.crd()
	return nil
}

// applyFields applies fields of a CRD's spec, if the CRD is still what was read.
func applyFields(ctx context.Context, api *kubeapi.Client, crd *CRD, manager string, force bool, spec map[string]any) error {
	config := map[string]any{
		"apiVersion": apiextensionsv1.SchemeGroupVersion.String(),
		"kind":       crdKind,
		"metadata":   map[string]any{"name": crd.Name, "resourceVersion": crd.ResourceVersion},
		"spec":       spec,
	}
	err := api.Apply(ctx, Path(crd.Name), manager, force, config, nil)
	if conflicts := kubeapi.FieldConflicts(err); len(conflicts) > 0 {
		foreign := slices.DeleteFunc(slices.Clone(conflicts), func(c metav1.StatusCause) bool { return mayTake(crd, c) })
		if len(foreign) > 0 {
			return &ConflictError{
				Name: crd.Name, Conflicts: foreign,
				Remedy: "take spec.conversion out of what that manager applies, or take the fields from it with --force",
			}
		}
		err = api.Apply(ctx, Path(crd.Name), manager, true, config, nil)
	}
	return kubeapi.Allow(err, "patch of customresourcedefinitions with the resourceName %s", crd.Name)
}

// verify reads the CRD back: an admission webhook or another manager may have had other ideas.
func (o *ApplyOptions) verify(ctx context.Context, api *kubeapi.Client, name string, bundle Bundle) error {
	crd, err := Read(ctx, api, name)
	if err != nil {
		return fmt.Errorf("written, but it could not be read back: %w", err)
	}
	want := &apiextensionsv1.CustomResourceConversion{}
	text, err := json.Marshal(tree(o.Target.members(o.ReviewVersions, bundle.PEM())))
	if err == nil {
		err = json.Unmarshal(text, want)
	}
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(crd.Spec.Conversion, want) {
		return fmt.Errorf("somebody else changes spec.conversion at the same time, see its managedFields: %s", name)
	}
	o.Log("%s: converted by %s", name, o.Target)
	return nil
}

// SetBundle makes caBundle of a CRD these CAs, and changes no other field, if the CRD is still what was read.
func SetBundle(ctx context.Context, api *kubeapi.Client, crd *CRD, bundle Bundle, force bool) error {
	return applyFields(ctx, api, crd, ManagerCerts, force, map[string]any{
		"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"caBundle": bundle.PEM()}}},
	})
}
