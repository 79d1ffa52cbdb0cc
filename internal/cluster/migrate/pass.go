package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/cluster"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
)

const (
	writers = 8 // at once
	tries   = 20
	// maxRefused is how many objects are named that cannot be written.
	maxRefused = 20
)

// errChanged ends a pass over the objects of a CRD that has changed.
var errChanged = errors.New("the CRD was changed")

// A pass goes over all objects.
type pass struct {
	api     *cluster.Client
	crd     *crd
	limiter *rate.Limiter
	// at, if set, is the version to read at. tryAt, if set, is the version at which the writes are
	// tried without effect.
	at, tryAt string
	// patch returns the patch that an object needs; nil if none. It is called again with the
	// answer, which must need none, unless always says that every object is written.
	patch  func(*object) (map[string]any, error)
	always bool
	report func(done int, left int64)
	// lost, if set, returns the fields of an entry of managedFields that a survey has as lost.
	lost func(version string, e *metav1.ManagedFieldsEntry) []string

	mu      sync.Mutex
	survey  *Survey
	written int
	refused []string
	more    int // refused objects that are not named
}

// run goes over the objects. What outcome then says counts.
func (p *pass) run(ctx context.Context) error {
	p.survey, p.written, p.refused, p.more = newSurvey(), 0, nil, 0
	checked, done := time.Now(), 0
	err := p.api.List(ctx, p.crd.path(cmp.Or(p.at, p.crd.readAt()), ""), func(page cluster.Page) error {
		var group sync.WaitGroup
		problems := make([]error, writers)
		for w := range writers {
			group.Go(func() {
				for i := w; i < len(page.Objects) && problems[w] == nil; i += writers {
					problems[w] = p.visit(ctx, page.Objects[i])
				}
			})
		}
		group.Wait()
		if err := errors.Join(problems...); err != nil {
			return err
		}
		done += len(page.Objects)
		p.report(done, page.Left)
		if page.Left == 0 || time.Since(checked) <= 10*time.Second {
			return nil
		}
		checked = time.Now()
		return p.crd.unchanged(ctx, p.api)
	})
	return p.explained(err)
}

// explained adds what to do if objects cannot be read for want of their conversion.
func (p *pass) explained(err error) error {
	switch {
	case err == nil || !strings.Contains(err.Error(), "conversion webhook for"):
		return err
	case strings.Contains(err.Error(), " failed: Post "): // k8s.io/apiextensions-apiserver/pkg/apiserver/conversion
		return fmt.Errorf("%w\nthe API server cannot call webhookd, see webhookd crd status --name %s", err, p.crd.Metadata.Name)
	}
	return fmt.Errorf("%w\ncorrect the object at the version that it is stored in, with kubectl edit %s.VERSION.%s, and run this again",
		err, p.crd.Spec.Names.Plural, p.crd.Spec.Group)
}

// visit writes an object if it needs that, and counts it.
func (p *pass) visit(ctx context.Context, text []byte) error {
	o, err := parse(text)
	if err != nil {
		return err
	}
	name := o.name()
	after, err := p.write(ctx, o)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && cluster.IsUnavailable(err):
		return err
	case err != nil:
		if len(p.refused) < maxRefused {
			p.refused = append(p.refused, name+": "+err.Error())
		} else {
			p.more++
		}
	}
	if p.tryAt != "" {
		after = o
	}
	if after != nil {
		p.survey.add(p.crd.Spec.Group, after, p.lost)
	}
	return nil
}

// write writes an object until it needs no more, and returns it as it is then, or nil if it is
// gone.
func (p *pass) write(ctx context.Context, o *object) (*object, error) {
	path := p.crd.path(cmp.Or(p.tryAt, p.crd.readAt()), o.Metadata.Namespace) + "/" + o.Metadata.Name
	for attempt := 1; ; attempt++ {
		patch, err := p.patch(o)
		if patch == nil || err != nil {
			return o, err
		}
		after, err := p.send(ctx, path, patch)
		switch {
		case err == nil && p.always:
			p.count()
			return after, nil
		case err == nil:
			p.count()
			if again, err := p.patch(after); again == nil || err != nil {
				return after, err
			}
			return after, errors.New("the change was taken back when it was written")
		case isGone(err):
			return nil, nil
		case cluster.IsChanged(err) && attempt < tries:
			o = &object{}
			if err := p.api.Get(ctx, path, o); err != nil {
				if isGone(err) {
					return nil, nil
				}
				return nil, err
			}
		default:
			return o, err
		}
	}
}

func (p *pass) send(ctx context.Context, path string, patch map[string]any) (*object, error) {
	if err := p.limiter.Wait(ctx); err != nil {
		return nil, err
	}
	after := &object{}
	if p.tryAt != "" {
		return after, p.api.MergePatch(ctx, path, patch, after, cluster.DryRun)
	}
	return after, p.api.MergePatch(ctx, path, patch, after)
}

// isGone reports whether an object is deleted. An API server that does not serve the kind, such as
// one that has just started, answers 404 as well, and says nothing of the object.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err)
}

func (p *pass) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.written++
}

// outcome returns an error that names the objects that could not be written.
func (p *pass) outcome() error {
	if len(p.refused) == 0 {
		return nil
	}
	slices.Sort(p.refused)
	lines := p.refused
	if p.more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more objects", p.more))
	}
	return fmt.Errorf("objects that cannot be written, correct them and run this again:\n%s", strings.Join(lines, "\n"))
}

// rewrite is a patch that changes nothing. The API server stores the object again if it would now
// be stored as other bytes.
func rewrite(*object) (map[string]any, error) { return map[string]any{}, nil }

// look needs no patch.
func look(*object) (map[string]any, error) { return nil, nil }

// cleanManagers takes versions out of managedFields.
func (r *run) cleanManagers(o *object) (map[string]any, error) {
	fields, err := withoutStrays(o.Metadata.ManagedFields, r.crd.Spec.Group, r.goal.To, func(version string) bool {
		return r.state.strays(&r.goal, version)
	})
	if fields == nil || err != nil {
		return nil, err
	}
	// The entries are those of this state of the object, and of no newer one.
	return o.patch(map[string]any{"managedFields": fields, "resourceVersion": o.Metadata.ResourceVersion}), nil
}

// cleanLeftovers removes annotations and labels of versions.
func cleanLeftovers(versions []string) func(*object) (map[string]any, error) {
	return func(o *object) (map[string]any, error) {
		metadata := map[string]any{}
		for member, entries := range map[string]map[string]string{"annotations": o.Metadata.Annotations, "labels": o.Metadata.Labels} {
			removed := map[string]any{}
			for name := range entries {
				if label, own := annotation.VersionOf(name); own && slices.Contains(versions, label) {
					removed[name] = nil
				}
			}
			if len(removed) > 0 {
				metadata[member] = removed
			}
		}
		if len(metadata) == 0 {
			return nil, nil
		}
		return o.patch(metadata), nil
	}
}

// patch changes metadata of the object that was read, and not of another one with its name.
func (o *object) patch(metadata map[string]any) map[string]any {
	metadata["uid"] = o.Metadata.UID
	return map[string]any{"metadata": metadata}
}
