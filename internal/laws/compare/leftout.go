package compare

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// LeftOut returns the fields that a manifest leaves out, and that make it mean something else at
// another version: the default that the API server fills in is converted to another object than the
// manifest is, with the defaults of that version. With these fields written out, which is the
// returned text, it means the same at both.
//
// Paths are empty if it does so anyway, or cannot be converted. They are also empty for what is not
// valid by itself, such as most patches: the API server fills in nothing there.
func LeftOut(ctx context.Context, r *hold.Resource, object []byte, to string) (paths []string, complete []byte, err error) {
	version, err := tree.VersionOf(object)
	if err != nil || !r.Has(version) || !r.Has(to) {
		return nil, nil, err
	}
	sent, stored := tree.Read(object), tree.Read(object)
	r.Schema(version).Default(stored)
	missing := tree.Added(sent, stored, nil, nil)
	if len(missing) == 0 || len(r.Schema(version).Validate(tree.Copy(stored))) > 0 {
		return nil, nil, nil
	}
	// meaning is what the API server makes of the object with some of the defaults, converted; nil
	// if it cannot be. No version shows kept values, and no client applies status.
	meaning := func(defaults [][]any) map[string]any {
		text, err := withValues(object, stored, defaults)
		if err != nil {
			return nil
		}
		there, err := r.Convert(ctx, text, version, to)
		if err != nil {
			return nil
		}
		result := tree.Visible(r.View(to, there))
		delete(result, "status")
		return result
	}
	want := meaning(missing)
	if want == nil || tree.Equal(want, meaning(nil)) {
		return nil, nil, nil
	}
	for i := 0; i < len(missing); {
		if fewer := slices.Delete(slices.Clone(missing), i, i+1); tree.Equal(want, meaning(fewer)) {
			missing = fewer
		} else {
			i++
		}
	}
	for _, path := range missing {
		paths = append(paths, tree.FormatPath(path))
	}
	complete, err = withValues(object, stored, missing)
	return paths, complete, err
}

// withValues returns an object with members of another one, and else as it is written.
func withValues(text []byte, from map[string]any, paths [][]any) ([]byte, error) {
	object, err := jsondoc.ParseObject(text)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		node := object.Node
		for _, step := range path[:len(path)-1] {
			switch step := step.(type) {
			case string:
				node, err = node.Member(step)
			case int:
				node, err = node.Element(step)
			}
			if err != nil {
				return nil, err
			}
		}
		value, err := jsondoc.RawValue(tree.Encode(tree.At(from, path...)))
		if err != nil {
			return nil, err
		}
		name, _ := path[len(path)-1].(string)
		if err := node.SetMember(name, value); err != nil {
			return nil, err
		}
	}
	return object.Text(), nil
}
