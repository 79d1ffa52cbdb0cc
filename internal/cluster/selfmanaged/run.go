package selfmanaged

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

const (
	// maxSteps ends a run that another client works against. A bootstrap takes four, and more for
	// each CRD, which have a limit of their own.
	maxSteps = 100
	// maxSets bounds how often a run sets caBundle of one CRD, so that a client that works against
	// it does not keep the others from being set. Undisturbed, a run sets it once, or twice if
	// another run begins to replace the CA.
	maxSets = 5
)

// Options say what a run maintains.
type Options struct {
	Namespace, Secret string
	Service           crdwire.Target
	CRDs              []string
	Policy            Policy // whose Name and AutoRotate Ensure sets
	Rotate            bool   // begin to replace the CA, unless that has begun
	Force             bool   // take caBundle from other field managers
	Now               func() time.Time
	Log               func(format string, args ...any)
}

// Ensure does everything that can be done now. It may be repeated at any time, and run
// concurrently.
func Ensure(ctx context.Context, api *cluster.Client, o Options) error {
	o.Policy.Name = o.Service.ServerName()
	o.Policy.AutoRotate = len(o.CRDs) > 0
	if o.Policy.StepDelay < safeStepDelay {
		o.Log("%s between the steps of a CA change is less than %s: API servers and replicas may not have loaded a change when the next step comes, so use it for tests only",
			o.Policy.StepDelay, safeStepDelay)
	}
	r := &run{Options: o, api: api, stuck: map[string]bool{}, unread: map[string]bool{}, sets: map[string]int{}, noted: map[string]bool{}}
	limit := maxSteps + maxSets*len(o.CRDs)
	for range limit {
		state, err := r.read(ctx)
		if err != nil {
			return errors.Join(append(r.problems, err)...)
		}
		step := Next(*state, o.Policy, o.Now(), r.Rotate)
		if step.Do == Wait {
			r.conclude(state, step)
			return errors.Join(r.problems...)
		}
		err = r.do(ctx, state, step)
		if step.Do == TrustInCRD {
			err = r.countSet(step.CRD, err)
		}
		switch {
		case cluster.IsChanged(err): // another client was faster
		case step.Do == TrustInCRD && err != nil && ctx.Err() == nil:
			r.stuck[step.CRD] = true
			r.problems = append(r.problems, err)
		case err != nil:
			return errors.Join(append(r.problems, err)...)
		}
	}
	gaveUp := fmt.Errorf("another client keeps changing the Secrets or the CRDs, see their managedFields: gave up after %d steps", limit)
	return errors.Join(append(r.problems, gaveUp)...)
}

type run struct {
	Options

	api      *cluster.Client
	leaf, ca *secret
	crds     map[string]*crdwire.CRD
	stuck    map[string]bool
	unread   map[string]bool // CRDs that may not be read
	sets     map[string]int  // how often each CRD was
	noted    map[string]bool
	problems []error
}

// countSet returns the error of setting caBundle of a CRD, or another one after too many attempts.
func (r *run) countSet(name string, err error) error {
	if err != nil && !cluster.IsChanged(err) {
		return err
	}
	if r.sets[name]++; r.sets[name] == maxSets {
		return fmt.Errorf("%s: another client keeps changing this CRD, see its managedFields; until that ends the CA is not replaced", name)
	}
	return err
}

func (r *run) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !r.noted[text] {
		r.noted[text] = true
		r.Log("%s", text)
	}
}

// read reads everything, in the reverse order of writing a new CA.
func (r *run) read(ctx context.Context) (*State, error) {
	state := &State{}
	var err error
	if state.CRDs, err = r.readCRDs(ctx); err != nil {
		return nil, err
	}
	if r.leaf, err = readSecret(ctx, r.api, r.Namespace, r.Secret); err != nil {
		return nil, err
	}
	if r.ca, err = readSecret(ctx, r.api, r.Namespace, r.Secret+CASuffix); err != nil {
		return nil, err
	}
	if state.Leaf, err = r.readLeaf(); err != nil {
		return nil, err
	}
	state.Published = crdwire.ReadableBundle(r.leaf.Data[bundleKey])
	if state.CA, err = r.readCA(certKey, keyKey); err != nil {
		return nil, err
	}
	if state.Next, err = r.readCA(nextCertKey, nextKeyKey); err != nil {
		return nil, err
	}
	state.TrustedSince = r.ca.trustedSince()
	return state, nil
}

// readCRDs returns the CRDs that point at the Service, and those that may not be read and might
// point at it: they do not keep the others from what they need.
func (r *run) readCRDs(ctx context.Context) ([]CRD, error) {
	r.crds = make(map[string]*crdwire.CRD, len(r.CRDs))
	crds := make([]CRD, 0, len(r.CRDs))
	for _, name := range r.CRDs {
		if r.unread[name] {
			crds = append(crds, CRD{Name: name, Stuck: true, Unread: true})
			continue
		}
		crd, err := crdwire.Read(ctx, r.api, name)
		switch {
		case apierrors.IsNotFound(err):
			r.note("no such CRD yet: %s", name)
			continue
		case apierrors.IsForbidden(err):
			r.unread[name] = true
			r.problems = append(r.problems, err)
			crds = append(crds, CRD{Name: name, Stuck: true, Unread: true})
			continue
		case err != nil:
			return nil, err
		}
		if at, is := crdwire.TargetOf(crd); !is || !at.Same(r.Service) {
			r.note("left alone, it does not point at %s: %s", r.Service, name)
			continue
		}
		written, _, err := crdwire.ReadDefinition(ctx, r.api, crd)
		switch {
		case err != nil:
			r.unread[name] = true
			r.problems = append(r.problems, err)
			crds = append(crds, CRD{Name: name, Stuck: true, Unread: true})
			continue
		case written == nil:
			written = crd
		}
		if at, is := crdwire.TargetOf(written); !is || !at.Same(r.Service) {
			r.note("left alone, its XRD does not point at %s: %s", r.Service, name)
			continue
		}
		r.crds[name] = written
		state := CRD{Name: name, Bundle: crdwire.BundleOf(crd), Stuck: r.stuck[name]}
		if set := crdwire.BundleOf(written); !state.Stuck && !set.Same(state.Bundle) {
			if r.sets[name] > 0 { // this run has set it, and the API server trusts what is in the CRD
				r.note("Crossplane has not written the caBundle of the XRD to this CRD yet: %s", name)
				state.Stuck = true
			}
		}
		crds = append(crds, state)
	}
	return crds, nil
}

func (r *run) do(ctx context.Context, state *State, step Step) error {
	var err error
	switch step.Do {
	case MakeCA, MakeNext:
		err = r.makeCA(ctx, step.Do)
	case Distrust:
		err = r.ca.write(ctx, r.api, typeOpaque, map[string][]byte{trustedSinceKey: nil})
	case Trust:
		err = r.ca.write(ctx, r.api, typeOpaque, map[string][]byte{trustedSinceKey: []byte(r.Now().UTC().Format(time.RFC3339))})
	case Promote:
		err = r.ca.write(ctx, r.api, typeOpaque, map[string][]byte{
			certKey: r.ca.Data[nextCertKey], keyKey: r.ca.Data[nextKeyKey], nextCertKey: nil, nextKeyKey: nil,
		})
	case TrustInCRD:
		err = r.explain(ctx, r.crds[step.CRD], crdwire.SetBundle(ctx, r.api, r.crds[step.CRD], step.Bundle, r.Force))
	case Publish:
		err = r.leaf.write(ctx, r.api, typeTLS, map[string][]byte{bundleKey: step.Bundle.PEM()})
	case Issue:
		err = r.issue(ctx, state.CA, step.Bundle)
	case Wait:
	}
	if err == nil {
		r.Log("%s: %s", r.describe(step), step.Why)
	}
	return err
}

// makeCA writes a CA, and removes the note that it is trusted.
func (r *run) makeCA(ctx context.Context, action Action) error {
	ca, err := newCA(&r.Policy, r.Now())
	if err != nil {
		return err
	}
	key, err := ca.keyPEM()
	if err != nil {
		return err
	}
	data := map[string][]byte{certKey: ca.certPEM(), keyKey: key, nextCertKey: nil, nextKeyKey: nil, trustedSinceKey: nil}
	if action == MakeNext {
		data = map[string][]byte{nextCertKey: ca.certPEM(), nextKeyKey: key, trustedSinceKey: nil}
	}
	return r.ca.write(ctx, r.api, typeOpaque, data)
}

func (r *run) issue(ctx context.Context, ca *Pair, bundle crdwire.Bundle) error {
	leaf, err := newLeaf(&r.Policy, ca, r.Now())
	if err != nil {
		return err
	}
	key, err := leaf.keyPEM()
	if err != nil {
		return err
	}
	return r.leaf.write(ctx, r.api, typeTLS, map[string][]byte{certKey: leaf.certPEM(), keyKey: key, bundleKey: bundle.PEM()})
}

// explain adds the remedy if another manager owns a caBundle. That manager may give it up only once
// someone else owns it as well: a field without an owner is deleted, and then no object can be
// converted.
func (r *run) explain(ctx context.Context, crd *crdwire.CRD, err error) error {
	conflict, ok := errors.AsType[*crdwire.ConflictError](err)
	if !ok {
		return err
	}
	shareErr := crdwire.ShareBundle(ctx, r.api, crd)
	switch {
	case shareErr != nil:
		conflict.Remedy = "leave caBundle where it is, and run this again before anything else; until then the CA is not replaced"
		return errors.Join(conflict, fmt.Errorf("the present caBundle cannot be owned as well: %w", shareErr))
	case crdwire.BundleAppliers(crd, conflict.Conflicts):
		conflict.Remedy = crdwire.ManagerCerts + " owns the present caBundle as well now, so it stays if that manager gives it up:\n" +
			"take caBundle out of what that manager applies, and run this again; until then the CA is not replaced"
	default:
		conflict.Remedy = "that manager does not use server-side apply, and a client-side apply deletes what leaves its file:\n" +
			"first take caBundle out of the file, and run kubectl apply set-last-applied -f FILE before anything applies it,\n" +
			"then run this with --force, which takes the field; until then the CA is not replaced"
	}
	return conflict
}

func (r *run) describe(step Step) string {
	leaf := "Secret " + r.Namespace + "/" + r.Secret
	ca := leaf + CASuffix
	return map[Action]string{
		MakeCA: ca + ": made a CA", MakeNext: ca + ": made the next CA", Promote: ca + ": the next CA is the present one",
		Trust: ca + ": noted the time", Distrust: ca + ": removed the noted time",
		TrustInCRD: "CRD " + step.CRD + ": set caBundle", Publish: leaf + ": set ca.crt", Issue: leaf + ": issued a leaf",
	}[step.Do]
}

// conclude logs the result of a run.
func (r *run) conclude(state *State, step Step) {
	if state.Leaf == nil {
		r.Log("Secret %s/%s: no leaf until the CRDs trust its CA, since they trust another certificate that is served", r.Namespace, r.Secret)
		return
	}
	day := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	r.Log("Secret %s/%s: the leaf ends on %s, its CA on %s", r.Namespace, r.Secret, day(state.Leaf.Cert.NotAfter), day(state.CA.Cert.NotAfter))
	if !r.Policy.AutoRotate && state.CA.Cert.NotAfter.Sub(r.Now()) < r.Policy.RotateBefore() {
		r.Log("the CA ends soon, and is not replaced, since no CRD is named: name all that point at %s with --crd", r.Service)
	}
	if step.At.After(r.Now()) && len(r.problems) == 0 {
		r.Log("nothing more to do before %s", day(step.At))
	}
}
