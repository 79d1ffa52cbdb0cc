package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/crdconvert/webhookd/internal/laws/hold"
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
	meta, _ := fields["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		fields["metadata"] = meta
	}
	meta["name"], meta["uid"] = name, "uid-of-"+name
	text, err := json.Marshal(fields)
	if err != nil {
		return object
	}
	return text
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

// together holds the answer to a review of several objects to those for each of them.
func (r *run) together(ctx context.Context, mixed bool) (score hold.Score, err error) {
	err = r.batches(ctx, mixed, func(calls []call) {
		calls, want := r.alone(ctx, calls)
		if len(calls) < 2 {
			return
		}
		objects := make([][]byte, len(calls))
		for i, c := range calls {
			objects[i] = c.object
		}
		answer, err := r.ask(ctx, "v1", calls[0].to, objects...)
		var got []json.RawMessage
		if err == nil {
			got, err = answer.converted()
		}
		if err != nil {
			score.Count(true, r.violation(calls[0], "a review of %d objects: %v", len(calls), err))
			return
		}
		for i, c := range calls {
			if !reflect.DeepEqual(read(got[i]), want[i]) {
				score.Count(true, r.violation(c, "object %d of %d is %s, and alone %s", i+1, len(calls), got[i], textOf(want[i])))
				return
			}
		}
		score.Count(true, nil)
	})
	return score, err
}

func checkOrder(ctx context.Context, r *run) (hold.Score, string, error) {
	score, err := r.together(ctx, false)
	if score.Objects == 0 {
		return score, "no object is converted by itself", err
	}
	return score, "", err
}

func checkMixed(ctx context.Context, r *run) (hold.Score, string, error) {
	if len(r.runner.Versions) < 3 {
		return hold.Score{}, "the CRD has two versions, and kube-apiserver sends no object that is at the desired one", nil
	}
	score, err := r.together(ctx, true)
	if score.Objects == 0 {
		return score, "no object is converted by itself", err
	}
	return score, "", err
}

func checkConcurrency(ctx context.Context, r *run) (score hold.Score, untested string, err error) {
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
	if score.Objects == 0 {
		untested = "no object is converted by itself"
	}
	return score, untested, err
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
	text, err := json.Marshal(v)
	if err != nil || v == nil {
		return "absent"
	}
	return string(text)
}
