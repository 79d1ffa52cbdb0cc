package crdwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/internal/cluster"
)

const (
	// overlap is the least time that a CA stays in caBundle after another one was added.
	overlap = 24 * time.Hour
	// looks is the number of good answers in a row, each over new connections, before a CRD is
	// pointed at a webhook, and of handshakes with the new CA before the old one goes: the replicas
	// of a Service change one after the other.
	looks = 10
	// tries is the number of attempts at an object that others change at the same time.
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
	Timeout        time.Duration // of the wait for the answers of all CRDs
	Force          bool
	Now            func() time.Time
	Log            func(format string, args ...any) // reports each step
}

// Apply waits until the webhook answers test reviews of these CRDs ten times in a row, and points
// them at it by server-side apply.
//
// An existing caBundle for the same target is not replaced at once: replicas may still serve a
// certificate of the old CA. Its CAs stay in the bundle until they expire, or until the new ones
// have been in it for a day and have verified ten new connections in a row.
//
// Of a CRD that Crossplane makes of an XRD, it changes the XRD, and waits until Crossplane has
// changed the CRD.
//
// If something is wrong with one CRD, no other CRD is pointed at the webhook; those that already
// point at it are updated.
func Apply(ctx context.Context, api *cluster.Client, names []string, o ApplyOptions) error {
	crds := make([]*subject, 0, len(names))
	var problems []error
	for _, name := range names {
		crd, err := o.read(ctx, api, name)
		if err == nil {
			err = o.refuse(crd.CRD)
		}
		switch {
		case err != nil:
			problems = append(problems, err)
		case !slices.ContainsFunc(crds, func(s *subject) bool { return pathOf(s.CRD) == pathOf(crd.CRD) }): // one XRD may make two CRDs
			crds = append(crds, crd)
		}
	}
	if len(problems) > 0 {
		if crds = o.here(crds); len(crds) == 0 {
			return errors.Join(problems...)
		}
	}
	waiting, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	crds, err := o.wait(waiting, crds) // for all of them, before the first change
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
	for _, crd := range crds { // each one, also if another fails: it may need the CA at once
		if err := o.apply(ctx, waiting, api, crd); err != nil {
			problems = append(problems, err)
		}
		if err := ctx.Err(); err != nil {
			break
		}
	}
	return errors.Join(problems...)
}

// here returns the CRDs that already point at the target: they may need the CA, even if something
// is wrong with another CRD.
func (o *ApplyOptions) here(crds []*subject) []*subject {
	return slices.DeleteFunc(crds, func(crd *subject) bool {
		at, is := TargetOf(crd.CRD)
		return !is || !at.Same(o.Target)
	})
}

func (o *ApplyOptions) refuse(crd *CRD) error {
	if err := elsewhere(crd.Spec.Conversion, o.Target); err != nil && !o.Force {
		return fmt.Errorf("%s: %w", crd.Name, err)
	}
	return nil
}

// bundle returns the caBundle that a CRD should have.
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

// bundleSince returns the age of caBundle according to managedFields; 0 if that is not known.
func (o *ApplyOptions) bundleSince(crd *CRD, now time.Time) time.Duration {
	owners := ownersOf(crd, "f:spec", "f:conversion", "f:webhook", "f:clientConfig", "f:caBundle")
	if len(owners) == 0 {
		return 0
	}
	latest := slices.MaxFunc(owners, func(a, b owner) int { return a.since.Compare(b.since) })
	if latest.since.IsZero() {
		return 0
	}
	return now.Sub(latest.since)
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

// wait repeats the probes of the CRDs until all succeed or ctx ends, and returns the CRDs whose
// probes did. Rules and certificates reach a running webhookd up to two minutes after they were
// written, and one replica after the other, so no answer is final.
func (o *ApplyOptions) wait(ctx context.Context, crds []*subject) (good []*subject, err error) {
	left, said := slices.Clone(crds), map[*subject]string{}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		left = slices.DeleteFunc(left, func(crd *subject) bool {
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
				problems = append(problems, fmt.Errorf("%s: no good answer within %s: %s", crd.Name, o.Timeout, said[crd]))
			}
			return good, errors.Join(problems...)
		case <-time.After(pause):
		}
	}
}

func (o *ApplyOptions) try(ctx context.Context, crd *subject) error {
	e := &Endpoint{Target: o.Target, Bundle: o.bundle(ctx, crd.CRD), Address: o.Address}
	all := crd.probes()
	for range looks {
		for i := range all {
			if err := all[i].Try(ctx, e, o.ReviewVersions[0]); err != nil {
				return err
			}
		}
	}
	if len(crd.Spec.Versions) == 1 {
		o.Log("%s: %s answers; the CRD has one version, so there is nothing to convert yet", crd.Name, o.Target)
		return nil
	}
	o.Log("%s: %s converts between all of %s", crd.Name, o.Target, strings.Join(versionNames(crd.CRD), ", "))
	return nil
}

// apply changes spec.conversion of a CRD. If the CRD has changed meanwhile, apply reads it again,
// and waits for good answers for new versions until the context waiting ends.
func (o *ApplyOptions) apply(ctx, waiting context.Context, api *cluster.Client, s *subject) error {
	for try := 1; ; try++ {
		crd := s.CRD
		bundle := o.bundle(ctx, crd)
		conversion := tree(o.Target.conversion(o.ReviewVersions, bundle.PEM()))
		err := o.fromURL(ctx, api, crd, bundle)
		if err == nil {
			err = applyFields(ctx, api, crd, ManagerWire, o.Force, map[string]any{"conversion": conversion})
		}
		if err == nil {
			err = o.verify(ctx, waiting, api, s, bundle)
			if err == nil && len(bundle) > len(o.Bundle) {
				o.Log("%s: caBundle keeps %d older CA, see --help", crd.Name, len(bundle)-len(o.Bundle))
			}
			return err
		}
		_, conflict := errors.AsType[*ConflictError](err)
		if !cluster.IsChanged(err) && !conflict || try == tries {
			return err
		}
		fresh, readErr := reread(ctx, api, crd)
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
			if s, readErr = o.read(ctx, api, crd.Name); readErr != nil {
				return readErr
			}
			if _, err := o.wait(waiting, []*subject{s}); err != nil {
				return err
			}
			continue
		}
		s.CRD = fresh
	}
}

// fromURL sets the conversion of a CRD that has a URL, since server-side apply cannot remove
// another manager's URL. One request sets all of it: with the Service, but the CA of the URL, no
// object could be read until the next request.
func (o *ApplyOptions) fromURL(ctx context.Context, api *cluster.Client, crd *CRD, bundle Bundle) error {
	if at, is := TargetOf(crd); !is || at.IsService() {
		return nil
	}
	patch := map[string]any{
		"metadata": map[string]any{"resourceVersion": crd.ResourceVersion},
		"spec":     map[string]any{"conversion": tree(o.Target.conversion(o.ReviewVersions, bundle.PEM()))},
	}
	if err := unstructured.SetNestedField(patch, nil, "spec", "conversion", "webhook", "clientConfig", "url"); err != nil {
		return err
	}
	var fresh needed // not crd itself, which would keep fields that are gone
	if err := api.MergePatch(ctx, pathOf(crd), patch, &fresh); err != nil {
		return err
	}
	*crd = *fresh.crd()
	return nil
}

// applyFields applies fields of a CRD's spec, if the CRD has not changed since it was read.
func applyFields(ctx context.Context, api *cluster.Client, crd *CRD, manager string, force bool, spec map[string]any) error {
	config := map[string]any{
		"apiVersion": cmp.Or(crd.APIVersion, apiextensionsv1.SchemeGroupVersion.String()), // items of lists lack it
		"kind":       cmp.Or(crd.Kind, crdKind),
		"metadata":   map[string]any{"name": crd.Name, "resourceVersion": crd.ResourceVersion},
		"spec":       spec,
	}
	err := api.Apply(ctx, pathOf(crd), manager, force, config)
	if conflicts := cluster.FieldConflicts(err); len(conflicts) > 0 {
		foreign := slices.DeleteFunc(slices.Clone(conflicts), func(c metav1.StatusCause) bool { return mayTake(crd, c) })
		if len(foreign) > 0 {
			return &ConflictError{
				Name: crd.Name, Conflicts: foreign,
				Remedy: "take spec.conversion out of what that manager applies, or take the fields from it with --force",
			}
		}
		err = api.Apply(ctx, pathOf(crd), manager, true, config)
	}
	return err
}

// verify reads the CRD back: an admission webhook or another manager may have changed it.
func (o *ApplyOptions) verify(ctx, waiting context.Context, api *cluster.Client, s *subject, bundle Bundle) error {
	crd, err := reread(ctx, api, s.CRD)
	if err != nil {
		return fmt.Errorf("written, but it could not be read back: %w", err)
	}
	want := o.Target.conversion(o.ReviewVersions, bundle.PEM())
	if !reflect.DeepEqual(crd.Spec.Conversion, want) {
		return fmt.Errorf("%s: another client changes spec.conversion at the same time, see its managedFields", s.Name)
	}
	if err := o.carriedOver(waiting, api, s, want); err != nil {
		return err
	}
	o.Log("%s: converted by %s", s.Name, o.Target)
	return nil
}

// SetBundle sets only caBundle of a CRD, if the CRD has not changed since it was read.
//
// With force it takes the field from other managers.
func SetBundle(ctx context.Context, api *cluster.Client, crd *CRD, bundle Bundle, force bool) error {
	return applyFields(ctx, api, crd, ManagerCerts, force, map[string]any{
		"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"caBundle": bundle.PEM()}}},
	})
}

// ShareBundle makes ManagerCerts one more owner of the present caBundle of a CRD. Then the field
// stays when an owner that uses server-side apply gives it up. It does nothing if the CRD has
// changed since it was read.
func ShareBundle(ctx context.Context, api *cluster.Client, crd *CRD) error {
	return applyFields(ctx, api, crd, ManagerCerts, false, map[string]any{
		"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"caBundle": caBundleOf(crd)}}},
	})
}

// BundleAppliers reports whether all managers of conflicts over caBundle use server-side apply. A
// client-side apply deletes a field even if others own it.
func BundleAppliers(crd *CRD, conflicts []metav1.StatusCause) bool {
	owners := ownersOf(crd, "f:spec", "f:conversion", "f:webhook", "f:clientConfig", "f:caBundle")
	return !slices.ContainsFunc(conflicts, func(c metav1.StatusCause) bool {
		return slices.ContainsFunc(owners, func(o owner) bool { return o.manager == managerOf(c) && !o.applies })
	})
}
