package shrink

import (
	"context"
	"iter"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// SmallestWalk makes a walk smaller for as long as fails says so of it, and returns the smallest.
// It tries at most some. Later returns a walk that begins with what the first step writes, nil if
// there is none.
func SmallestWalk(
	ctx context.Context, w *generate.Walk, most int, later func(*generate.Walk) *generate.Walk, fails func(*generate.Walk) bool,
) *generate.Walk {
	return reduce(ctx, w, most, func(w *generate.Walk) iter.Seq[*generate.Walk] { return smallerWalks(w, later) }, fails)
}

// smallerWalks yields smaller walks: from the object that the first step writes, without each of
// the steps and of the changes, and with something smaller as the value of a change and as the
// object.
func smallerWalks(w *generate.Walk, later func(*generate.Walk) *generate.Walk) iter.Seq[*generate.Walk] {
	return func(yield func(*generate.Walk) bool) {
		if later := later(w); later != nil && !yield(later) {
			return
		}
		with := func(steps []generate.Step) bool {
			return yield(&generate.Walk{Object: w.Object, Storage: w.Storage, Steps: steps})
		}
		for i := range slices.Backward(w.Steps) {
			if !with(slices.Delete(slices.Clone(w.Steps), i, i+1)) {
				return
			}
		}
		for i, step := range w.Steps {
			for changes := range fewerChanges(step.Changes) {
				steps := slices.Clone(w.Steps)
				if steps[i].Changes = changes; !with(steps) {
					return
				}
			}
		}
		for object := range smaller(w.Object) {
			if !yield(&generate.Walk{Object: object, Storage: w.Storage, Steps: w.Steps}) {
				return
			}
		}
	}
}

// fewerChanges yields changes without each of them, and with smaller values.
func fewerChanges(all []generate.Change) iter.Seq[[]generate.Change] {
	return func(yield func([]generate.Change) bool) {
		for j, change := range all {
			if !yield(slices.Delete(slices.Clone(all), j, j+1)) {
				return
			}
			boxed := map[string]any{"value": tree.Literal(tree.Encode(change.Value))}
			for less := range smallerValues(boxed) {
				changes := slices.Clone(all)
				changes[j].Value = tree.Read(tree.Encode(less))["value"]
				if !tree.IsAbsent(tree.At(less, "value")) && !yield(changes) {
					return
				}
			}
		}
	}
}
