package shrink

import (
	"context"
	"iter"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// SmallestWalk makes a walk smaller for as long as fails says so of it. It tries at most some.
// Later returns a walk that begins with what the first step writes, nil if there is none.
func SmallestWalk(ctx context.Context, w *generate.Walk, most int, later func(*generate.Walk) *generate.Walk, fails func(*generate.Walk) bool) {
	reduce(ctx, w, most, func(ctx context.Context, w *generate.Walk) iter.Seq[func() *generate.Walk] {
		return smallerWalks(ctx, w, later)
	}, fails)
}

// smallerWalks yields smaller walks: from the object that the first step writes, without each of
// the steps and of the changes, and with something smaller as the value of a change and as the
// object.
func smallerWalks(ctx context.Context, w *generate.Walk, later func(*generate.Walk) *generate.Walk) iter.Seq[func() *generate.Walk] {
	return func(yield func(func() *generate.Walk) bool) {
		if later := later(w); later != nil && !yield(func() *generate.Walk { return later }) {
			return
		}
		for i := range slices.Backward(w.Steps) {
			if !yield(func() *generate.Walk {
				return &generate.Walk{Object: w.Object, Storage: w.Storage, Steps: slices.Delete(slices.Clone(w.Steps), i, i+1)}
			}) {
				return
			}
		}
		for i, step := range w.Steps {
			with := func(changes []generate.Change) func() *generate.Walk {
				steps := slices.Clone(w.Steps)
				steps[i].Changes = changes
				return func() *generate.Walk { return &generate.Walk{Object: w.Object, Storage: w.Storage, Steps: steps} }
			}
			for j, change := range step.Changes {
				if !yield(with(slices.Delete(slices.Clone(step.Changes), j, j+1))) {
					return
				}
				boxed := map[string]any{"value": tree.Literal(tree.Encode(change.Value))}
				for less := range smallerValues(boxed) {
					changes := slices.Clone(step.Changes)
					changes[j].Value = tree.Read(tree.Encode(less))["value"]
					if !tree.IsAbsent(tree.At(less, "value")) && !yield(with(changes)) {
						return
					}
				}
			}
		}
		for object := range smaller(ctx, w.Object) {
			if !yield(func() *generate.Walk { return &generate.Walk{Object: object(), Storage: w.Storage, Steps: w.Steps} }) {
				return
			}
		}
	}
}
