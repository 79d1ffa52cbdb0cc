package roundtrip

import (
	"context"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// LeftOut returns the fields that a manifest leaves out, and that make it mean something else at
// another version: the default that the API server fills in is converted to another object than the
// manifest is, with the defaults of that version. With these fields written out, which is the
// returned text, it means the same at both.
//
// Paths are empty if it does so anyway, or cannot be converted. They are also empty for what is not
// valid by itself, such as most patches: the API server fills in nothing there.
func (e *Examiner) LeftOut(ctx context.Context, object []byte, to string) (paths []string, complete []byte, err error) {
	version, err := versionOf(object)
	if err != nil || !e.Kind.Has(version) || !e.Kind.Has(to) || e.schema(version) == nil || e.schema(to) == nil {
		return nil, nil, err
	}
	sent, stored := e.read(object), e.read(object)
	e.schema(version).Default(stored)
	missing := added(sent, stored, nil, nil)
	if len(missing) == 0 || len(e.schema(version).Validate(copied(stored))) > 0 {
		return nil, nil, nil
	}
	m := &manifest{e: e, ctx: ctx, text: object, stored: stored, from: version, to: to}
	want := m.meaning(missing)
	if want == nil || equal(want, m.meaning(nil)) {
		return nil, nil, nil
	}
	for i := 0; i < len(missing); {
		if fewer := slices.Delete(slices.Clone(missing), i, i+1); equal(want, m.meaning(fewer)) {
			missing = fewer
		} else {
			i++
		}
	}
	for _, path := range missing {
		paths = append(paths, formatPath(path))
	}
	complete, err = m.with(missing)
	return paths, complete, err
}

// A manifest is an object as a user writes it.
type manifest struct {
	e        *Examiner
	ctx      context.Context //nolint:containedctx // of one call
	text     []byte
	stored   map[string]any // with its defaults
	from, to string
}

// with returns the text with some of the defaults.
func (m *manifest) with(defaults [][]any) ([]byte, error) {
	object, err := jsondoc.ParseObject(m.text)
	if err != nil {
		return nil, err
	}
	for _, path := range defaults {
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
		value, err := jsondoc.RawValue(encode(at(m.stored, path...)))
		if err != nil {
			return nil, err
		}
		name, _ := path[len(path)-1].(string) // defaults are members
		if err := node.SetMember(name, value); err != nil {
			return nil, err
		}
	}
	return object.Text(), nil
}

// meaning returns what the API server makes of the manifest with some of the defaults, after it was
// converted: nil if it cannot be. Kept values are left out, which no version shows.
func (m *manifest) meaning(defaults [][]any) map[string]any {
	text, err := m.with(defaults)
	if err != nil {
		return nil
	}
	there, err := m.e.convert(m.ctx, text, m.from, m.to)
	if err != nil {
		return nil
	}
	object := visible(m.e.view(m.to, there))
	maps.DeleteFunc(object, func(name string, _ any) bool { return name == "status" }) // no client applies it
	return object
}
