package conformance

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// most is how many objects a review has at most, and how many reviews are posted at the same time.
const most = 8

// batches calls test with several objects of one version, or of all but the one they are converted
// to, which have different names.
func (r *run) batches(ctx context.Context, mixed bool, test func(calls []call)) error {
	versions := r.runner.Versions
	for batch := uint64(0); batch*most < r.Objects; batch++ {
		for _, to := range versions {
			froms := r.runner.Others(to)
			if !mixed {
				froms = froms[batch%uint64(len(froms)):][:1]
			}
			var calls []call
			for i := range uint64(most) {
				index := batch*most + i
				from := froms[i%uint64(len(froms))]
				if object := r.runner.Object(from, index); object != nil {
					calls = append(calls, call{index, from, to, named(object, fmt.Sprint("object-", i))})
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(calls) > 1 {
				test(calls)
			}
		}
	}
	return ctx.Err()
}

// named gives an object a name and a uid of its own.
func named(object []byte, name string) []byte {
	fields := read(object)
	meta := tree.Child(fields, "metadata")
	meta["name"], meta["uid"] = name, "uid-of-"+name
	return tree.Encode(fields)
}

// alone returns the objects that a review of their own converts, and to what. The check of the
// review is about the others.
func (r *run) alone(ctx context.Context, calls []call) (good []call, objects []map[string]any) {
	for _, c := range calls {
		text, err := r.convert(ctx, c.object, c.from, c.to)
		if object := read(text); err == nil && object != nil {
			good, objects = append(good, c), append(objects, object)
		}
	}
	return good, objects
}

// together makes a check that holds the answer to a review of several objects to those for each of
// them.
func together(mixed bool) func(context.Context, *run) (hold.Score, string, error) {
	return func(ctx context.Context, r *run) (score hold.Score, untested string, err error) {
		if mixed && len(r.runner.Versions) < 3 {
			return score, "the CRD has two versions, and kube-apiserver sends no object that is at the desired one", nil
		}
		err = r.batches(ctx, mixed, func(calls []call) {
			if calls, want := r.alone(ctx, calls); len(calls) > 1 {
				score.Count(true, r.differs(ctx, calls, want))
			}
		})
		return score, "", err
	}
}

// differs says how the answer to a review of several objects differs from those that are wanted.
func (r *run) differs(ctx context.Context, calls []call, want []map[string]any) *hold.ViolationError {
	objects := make([][]byte, len(calls))
	for i, c := range calls {
		objects[i] = c.object
	}
	answer, err := r.ask(ctx, "v1", calls[0].to, objects...)
	var got []runtime.RawExtension
	if err == nil {
		got, err = answer.converted()
	}
	if err != nil {
		return r.violation(calls[0], "a review of %d objects: %v", len(calls), err)
	}
	for i, c := range calls {
		if !reflect.DeepEqual(read(got[i].Raw), want[i]) {
			return r.violation(c, "object %d of %d is %s, and alone %s", i+1, len(calls), got[i].Raw, textOf(want[i]))
		}
	}
	return nil
}

func checkConcurrency(ctx context.Context, r *run) (score hold.Score, _ string, err error) {
	err = r.batches(ctx, false, func(calls []call) {
		calls, want := r.alone(ctx, calls)
		problems := make([]*hold.ViolationError, len(calls))
		var group sync.WaitGroup
		for i, c := range calls {
			group.Go(func() { problems[i] = r.atOnce(ctx, c, want[i]) })
		}
		group.Wait()
		for _, v := range problems {
			score.Count(true, v)
		}
	})
	return score, "", err
}

// atOnce converts an object a few times, while others do the same.
func (r *run) atOnce(ctx context.Context, c call, want map[string]any) *hold.ViolationError {
	for range 3 {
		text, err := r.convert(ctx, c.object, c.from, c.to)
		if err != nil {
			return r.violation(c, "with %d reviews at the same time: %v", most, err)
		}
		if !reflect.DeepEqual(read(text), want) {
			return r.violation(c, "with %d reviews at the same time the object is %s, and alone %s", most, text, textOf(want))
		}
	}
	return nil
}

// textOf returns the JSON text of a value for a message.
func textOf(v any) string {
	if v == nil {
		return "absent"
	}
	return tree.Text(v)
}
