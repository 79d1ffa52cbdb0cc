package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/cluster"
)

// GuardRemedy says how to remove kept values that a policy protects.
const GuardRemedy = "if a policy of webhookd crd guard annotations refuses it, let a group of yours pass with --allow-group " +
	"(keptValues.allowGroup of the chart), or delete the policy"

// patience is how long an API server may be away.
const patience = 5 * time.Minute

// Options say how a CRD is migrated. All functions must be set.
type Options struct {
	// WritesPerSecond bounds the writes of objects.
	WritesPerSecond float64
	// Settle is how long API servers may take to learn of a change of a CRD, and to end requests
	// that began before.
	Settle time.Duration
	// Confirm is asked before each step with a Warning. The run ends with its error.
	Confirm func(step Step, writers []string) error
	// Log reports what is done.
	Log func(format string, args ...any)
	// Progress is called as objects are done. Left is negative if it is not known.
	Progress func(done int, left int64)
}

// A Report is what a CRD and its objects are, and what there is to do.
type Report struct {
	Name, Kind string
	State      State
	Steps      []Step
	// Guard is why the API server would refuse the last step now; empty if it would not.
	Guard string
}

// A run is one process.
type run struct {
	Options

	api       *cluster.Client
	name      string
	goal      Goal
	to        string // empty if it is the storage version, whichever that is
	limiter   *rate.Limiter
	crd       *crd
	state     *State
	seen      time.Time // when the generation was
	settled   bool
	rewritten bool
	survey    *Survey
	done      map[Action]bool // changes of the spec
}

func newRun(api *cluster.Client, name string, g Goal, o Options) *run {
	return &run{
		Options: o, api: api, name: name, goal: g, to: g.To, done: map[Action]bool{},
		limiter: rate.NewLimiter(rate.Limit(o.WritesPerSecond), writers),
	}
}

// Look reports what there is to do, and changes nothing. With try it asks the API server for each
// object whether it would accept it at the version to store it in; the report is there although it
// would not.
func Look(ctx context.Context, api *cluster.Client, name string, g Goal, o Options, try bool) (*Report, error) {
	r := newRun(api, name, g, o)
	if err := r.observe(ctx); err != nil {
		return nil, err
	}
	report := &Report{Name: name, Kind: r.crd.Spec.Names.Kind + "." + r.crd.Spec.Group}
	if why := wrong(r.state, &r.goal); why != "" {
		return nil, fmt.Errorf("%s: %s", name, why)
	}
	p := r.newPass(look)
	if p.at = r.crd.readAt(); r.state.isServed(r.goal.To) {
		p.at = r.goal.To // which shows what is kept of the other versions
	}
	at := p.at
	if try {
		p.tryAt, p.always = at, true
		p.patch = func(o *object) (map[string]any, error) {
			patch, err := r.cleanManagers(o)
			if patch == nil {
				return rewrite(o)
			}
			return patch, err
		}
	}
	schema, err := r.crd.schema(r.goal.To)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the schema of %s: %w", name, r.goal.To, err)
	}
	p.lost = func(version string, e *metav1.ManagedFieldsEntry) []string {
		if !r.state.strays(&r.goal, version) {
			return nil
		}
		return lost(schema, e)
	}
	if err = p.run(ctx); err != nil && try && p.at != r.crd.readAt() {
		// One object that cannot be converted fails the whole list. Its write names it.
		p.at = ""
		err = p.run(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.state.Survey = p.survey
	report.State, report.Steps = *r.state, Plan(*r.state, &r.goal)
	for _, step := range report.Steps {
		if err := r.guard(ctx, step, at); err != nil {
			report.Guard, _, _ = strings.Cut(err.Error(), "\n")
		}
	}
	return report, p.outcome()
}

// guard returns the error with which the API server would refuse to remove annotations of a step,
// such as that of a policy: it is asked once for each version, without effect.
func (r *run) guard(ctx context.Context, step Step, at string) error {
	if step.Do != CleanLeftovers {
		return nil
	}
	for _, version := range step.Versions {
		p := r.newPass(cleanLeftovers([]string{version}))
		p.tryAt = at
		if _, err := p.write(ctx, r.state.Survey.Leftovers[version].object); err != nil {
			return err
		}
	}
	return nil
}

// Run takes one step after the other until there is none. It may be killed at any time, and several
// may run at once.
func Run(ctx context.Context, api *cluster.Client, name string, g Goal, o Options) error {
	r := newRun(api.Patient(patience), name, g, o)
	for {
		if err := r.observe(ctx); err != nil {
			return err
		}
		step := Next(r.state, &r.goal)
		switch {
		case step.Do == Done:
			return nil
		case step.Do == Stop:
			return fmt.Errorf("%s: %s", name, step.Why)
		case step.ByHand:
			return fmt.Errorf("%s: Crossplane makes this CRD of an XRD, take the next step there and run this again: %s", name, step.Why)
		case step.Warning != "":
			if err := r.guard(ctx, step, r.crd.readAt()); err != nil {
				return fmt.Errorf("%s: the next step would be refused: %w\n%s, and run this again", name, err, GuardRemedy)
			}
			if err := r.Confirm(step, r.crd.writers()); err != nil {
				return err
			}
		}
		err := r.do(ctx, step)
		switch {
		case errors.Is(err, errChanged), cluster.IsChanged(err):
			r.Log("%s: another client has changed the CRD, looking at it again", name)
		case err != nil:
			return err
		}
	}
}

// observe reads the CRD. What is known of another generation does not count.
func (r *run) observe(ctx context.Context) error {
	now, err := readCRD(ctx, r.api, r.name)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s: there is no such CRD", r.name)
	case err != nil:
		return err
	case r.crd != nil && now.Metadata.UID != r.crd.Metadata.UID:
		return fmt.Errorf("%s: the CRD was deleted and created again, look at it and run this again", r.name)
	case r.crd == nil || !now.is(r.crd):
		r.seen, r.settled, r.rewritten, r.survey = time.Now(), false, false, nil
	}
	r.crd, r.state = now, now.state()
	r.goal.To = cmp.Or(r.to, r.state.storage())
	r.state.Rewritten, r.state.Survey = r.rewritten, r.survey
	if !r.settled {
		r.state.SettledAt = settledAt(now, r.seen, r.Settle)
	}
	return nil
}

// do takes a step.
func (r *run) do(ctx context.Context, step Step) error {
	switch step.Do {
	case SetStorage, StopServing, RemoveVersions:
		return r.setVersions(ctx, step)
	case Wait:
		if left := time.Until(step.At); left > time.Second {
			r.Log("waiting until %s: %s", step.At.Format(time.TimeOnly), "API servers learn of the CRD, and requests that began before end")
		}
		if err := sleep(ctx, time.Until(step.At)); err != nil {
			return err
		}
		err := agree(ctx, r.api, r.crd)
		r.settled, r.survey = err == nil, nil // what was listed before may have changed since
		return err
	case Rewrite:
		p := r.newPass(rewrite)
		p.always = true
		err := r.over(ctx, p, "written at %s", r.crd.readAt())
		r.rewritten = err == nil
		return err
	case Prune:
		if err := agree(ctx, r.api, r.crd); err != nil {
			return err
		}
		r.Log("%s", step.Why)
		return r.crd.setStored(ctx, r.api, r.goal.To)
	case CleanManagers:
		return r.over(ctx, r.newPass(r.cleanManagers), "no longer name %s in managedFields", list(step.Versions))
	case CleanLeftovers:
		return r.over(ctx, r.newPass(cleanLeftovers(step.Versions)), "no longer have annotations of %s", list(step.Versions))
	case ListObjects, Stop, Done:
	}
	return r.over(ctx, r.newPass(look), "")
}

// over runs a pass, whose survey then counts if the CRD is still the same.
func (r *run) over(ctx context.Context, p *pass, what string, args ...any) error {
	if err := errors.Join(p.run(ctx), p.outcome()); err != nil {
		return err
	}
	if err := p.crd.unchanged(ctx, r.api); err != nil {
		return err
	}
	r.survey = p.survey
	if what != "" {
		r.Log("%d of %d objects "+what, append([]any{p.written, p.survey.Objects}, args...)...)
	}
	return nil
}

func (r *run) newPass(patch func(*object) (map[string]any, error)) *pass {
	return &pass{api: r.api, crd: r.crd, limiter: r.limiter, patch: patch, report: r.Progress}
}

// setVersions changes spec.versions. If another client has put it back before, it stops.
func (r *run) setVersions(ctx context.Context, step Step) error {
	if r.done[step.Do] {
		return fmt.Errorf("%s: another client has taken back a change of spec.versions; change the CRD where it comes from, and run this again: managers %s",
			r.name, list(r.crd.writers()))
	}
	err := r.crd.setVersions(ctx, r.api, func(v Version) (map[string]bool, bool) {
		switch {
		case step.Do == SetStorage:
			return map[string]bool{"storage": v.Name == r.goal.To}, true
		case !slices.Contains(step.Versions, v.Name):
			return nil, true
		}
		return map[string]bool{"served": false}, step.Do == StopServing
	})
	if err == nil {
		r.done[step.Do] = true
		r.Log("%s", step.Why)
	}
	return err
}
