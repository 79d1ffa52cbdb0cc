package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/roundtrip"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// fuzzLive holds kinds to the laws on the objects of a cluster.
func (p *program) fuzzLive(ctx context.Context, reader *liveReader, set *ruleset.Set, kinds []*converters.Kind, o *fuzzOptions) error {
	live, err := reader.kinds(ctx, set, kinds)
	if err != nil {
		return err
	}
	failed := false
	for i := range live {
		violated, err := p.fuzzLiveKind(ctx, reader, set, &live[i], o, o.time/time.Duration(len(live)))
		if err != nil {
			return fmt.Errorf("%s: %w", live[i].Name(), err)
		}
		failed = failed || violated
	}
	if failed {
		return errReported
	}
	return nil
}

// fuzzLiveKind reports whether a law is violated.
func (p *program) fuzzLiveKind(
	ctx context.Context, reader *liveReader, set *ruleset.Set, kind *liveKind, o *fuzzOptions, limit time.Duration,
) (bool, error) {
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	suite := roundtrip.Suite{
		Kind: kind.Kind, Seed: o.seed, CRD: set.CRD(kind.GroupKind), Stored: true, Hints: cause.Hints, Drops: cause.Drops,
	}
	limited, cancel := withLimit(ctx, limit)
	defer cancel()
	objects := &liveObjects{reader: reader, kind: kind, limit: o.count}
	err := suite.Check(limited, objects.all(limited))
	if violation, ok := errors.AsType[*roundtrip.ViolationError](err); ok {
		return true, p.printLiveViolation(o, kind, cause, violation, objects.name)
	}
	ended := limited.Err() != nil
	if err == nil || ended {
		err = objects.err
	}
	switch {
	case ctx.Err() != nil:
		return false, errors.New("interrupted")
	case err != nil && !ended:
		return false, err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: all laws hold on %s of %s and edits of them (seed %d)\n", kind.Name(),
		count(objects.done, "live object"), kind.version, o.seed)
	return false, err
}

// liveObjects yields the objects of a kind, at most limit if that is not 0.
type liveObjects struct {
	reader *liveReader
	kind   *liveKind
	limit  uint64

	name string // of the last one
	done uint64
	err  error // that ended the list
}

// errEnough ends a list early.
var errEnough = errors.New("enough objects")

func (l *liveObjects) all(ctx context.Context) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		_, err := l.reader.each(ctx, l.kind, func(page []liveObject) error {
			for _, object := range page {
				if l.limit > 0 && l.done == l.limit {
					return errEnough
				}
				if l.name = object.name; !yield(object.text) {
					return errEnough
				}
				l.done++
			}
			return nil
		})
		if !errors.Is(err, errEnough) {
			l.err = err
		}
	}
}

// printLiveViolation prints a violated law. Without --show-values it prints nothing that may quote
// the object.
func (p *program) printLiveViolation(
	o *fuzzOptions, kind *liveKind, c *diagnosis.Rules, v *roundtrip.ViolationError, name string,
) error {
	if o.live.showValues {
		if _, err := fmt.Fprintf(p.stdout, "live object: %s\n", name); err != nil {
			return err
		}
		return p.printViolation(o, kind.Kind, c, v)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: law %s does not hold, %s -> %s\nlive object: %s\n", kind.Name(), v.Law, v.From, v.To, name)
	if v.Path != "" {
		fmt.Fprintf(&out, "differs: %s %s\n", v.At, diagnosis.AnyElement(v.Path))
	}
	why, remedy := c.Explain(v)
	if why != "" {
		fmt.Fprintf(&out, "cause: %s\n", why)
	}
	if remedy != "" {
		fmt.Fprintf(&out, "remedy: %s\n", remedy)
	}
	fmt.Fprintf(&out, "seed: %d\nwith values: %s --show-values\n", v.Seed, o.again(kind.Name(), v.Seed, v.Index+1))
	_, err := fmt.Fprint(p.stdout, out.String())
	return err
}
