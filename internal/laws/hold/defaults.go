package hold

import (
	"context"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Default is a default of a version's schema that breaks a law: the API server fills it in when
// it stores an object at that version, and the way back takes it for a value of the user.
type Default struct {
	// Version has the default at Path, where the object has no value. Value is its JSON text.
	Version, Path, Value string
}

// returnsDefaulted is returns for an object that lacks some of its defaults: the API server fills
// them in before it converts the object.
func (t *subject) returnsDefaulted(to string) *ViolationError {
	full, v := t.subject(t.ctx, tree.Encode(t.refill(tree.Read(t.object))))
	if v != nil || len(full.defaulted) > 0 {
		return v
	}
	full.foreign = t.foreign
	return full.roundTrip(to)
}

// refill gives an object the source's own value wherever a default filled in the source. What
// comes back there says nothing: the API server would not have sent the object without it.
func (t *subject) refill(back map[string]any) map[string]any {
	for _, path := range t.defaulted {
		generate.Put(back, path, tree.At(t.state, path...))
	}
	return back
}

// blame finds the default that alone makes an object come back with a value that it did not have.
func (s *Runner) blame(ctx context.Context, found *ViolationError) {
	if !s.Stored || found.Walk != nil || found.Path == "" || found.Was != "" || found.Law != RoundTrip && found.Law != Edit {
		return
	}
	t, v := s.subject(ctx, found.Object)
	if v != nil || len(t.defaulted) > 0 {
		return
	}
	text, err := t.convert(ctx, t.object, t.version, found.To)
	if err != nil || t.returnsFrom(found.To, text, "there", true) != nil {
		return
	}
	there, stored := tree.Read(text), t.View(found.To, text)
	for _, path := range tree.Added(there, stored, nil, nil) {
		one := tree.Copy(there)
		generate.Put(one, path, tree.At(stored, path...))
		if v := t.returnsFrom(found.To, tree.Encode(one), "there", true); v != nil {
			found.Default = &Default{found.To, tree.FormatPath(path), tree.Text(tree.At(stored, path...))}
			return
		}
	}
}
