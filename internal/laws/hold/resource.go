package hold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Drop is a place whose values the conversion from one version to another loses on purpose. The
// path is one of the version From, as conversion rules write paths; an empty From or To is any
// version. What is lost on the way to the hub is also lost on the way to the versions behind it.
type Drop = struct{ From, To, Path string }

// A Resource does with the objects of a kind what the API server does: read, prune, default and
// validate them, and have them converted. It is safe for concurrent use.
type Resource struct {
	// Versions are those of the kind that the CRD has.
	Versions []string

	kind      *converters.Kind
	remote    Remote
	crd       *crdschema.CRD
	drops     map[direction][][]syntax.Segment
	documents sync.Pool // of *jsondoc.Document: new ones would be half of the garbage
}

type direction struct{ from, to string }

// NewResource returns a Resource of a kind, which a remote converts unless that is nil. It fails if
// it cannot read a drop.
func NewResource(kind *converters.Kind, remote Remote, crd *crdschema.CRD, drops []Drop) (*Resource, error) {
	s := &Resource{kind: kind, remote: remote, crd: crd, drops: map[direction][][]syntax.Segment{}}
	s.Versions = slices.DeleteFunc(slices.Clone(kind.Versions), func(v string) bool { return crd.Version(v) == nil })
	problems := make([]error, 0, len(drops))
	for _, drop := range drops {
		p, err := tree.ParsePath(drop.Path)
		problems = append(problems, err)
		for _, from := range s.Versions {
			for _, to := range s.Versions {
				if (drop.From == "" || drop.From == from) && (drop.To == "" || drop.To == to || drop.To == kind.Hub) {
					s.drops[direction{from, to}] = append(s.drops[direction{from, to}], p)
				}
			}
		}
	}
	return s, errors.Join(problems...)
}

// Others are the versions except one.
func (s *Resource) Others(version string) []string {
	return slices.DeleteFunc(slices.Clone(s.Versions), func(v string) bool { return v == version })
}

// Has reports whether the kind and the CRD have a version, with a schema.
func (s *Resource) Has(version string) bool {
	v := s.Schema(version)
	return s.kind.Has(version) && v != nil && v.Root != nil
}

// Schema returns the schema of a version, nil if the CRD does not have it.
func (s *Resource) Schema(version string) *crdschema.Version { return s.crd.Version(version) }

// View returns an object as the API server has it: decoded, pruned and defaulted.
func (s *Resource) View(version string, object []byte) map[string]any {
	v := tree.Read(object)
	s.Admit(version, v)
	return v
}

// Admit prunes and defaults an object.
func (s *Resource) Admit(version string, object map[string]any) {
	if v := s.Schema(version); v != nil {
		v.Prune(object)
		v.Default(object)
	}
}

// WithoutDropped returns an object of a version without what is dropped on the way to others.
func (s *Resource) WithoutDropped(object map[string]any, version string, by ...string) map[string]any {
	if len(s.drops) == 0 {
		return object
	}
	object = tree.Copy(object)
	for _, to := range by {
		for _, path := range s.drops[direction{version, to}] {
			tree.RemoveAll(object, path, tree.IsAny)
		}
	}
	return tree.Tidy(object) // perhaps the last annotation has gone
}

// compare compares an object with what came back of it by way of other versions, except what is
// dropped on the way to these.
func (s *Resource) compare(was, is map[string]any, version string, by ...string) tree.Gap {
	diff := tree.Difference(was, is, "")
	if diff.Path == "" {
		return diff
	}
	return tree.Difference(s.WithoutDropped(was, version, by...), s.WithoutDropped(is, version, by...), "")
}

// Convert does what the server does with one object: convert it and set its apiVersion. A panic is
// an error.
func (s *Resource) Convert(ctx context.Context, object []byte, from, to string) (result []byte, err error) {
	if s.remote != nil {
		return s.remotely(ctx, object, from, to)
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	doc, ok := s.documents.Get().(*jsondoc.Document)
	if !ok {
		doc = &jsondoc.Document{}
	}
	defer func() {
		doc.Reset(nil)
		s.documents.Put(doc)
	}()
	obj, err := doc.Parse(object)
	if err != nil {
		return nil, err
	}
	if err := s.kind.Convert(ctx, obj, from, to); err != nil {
		return nil, err
	}
	if from != to {
		if err := obj.Set(jsondoc.StringValue(s.kind.Group+"/"+to), "apiVersion"); err != nil {
			return nil, err
		}
	}
	return bytes.Clone(obj.Text()), nil
}

// ConvertStored converts an object that is stored, and so has a uid. The result has none that the
// object had not.
func (s *Resource) ConvertStored(ctx context.Context, object []byte, from, to string) ([]byte, error) {
	obj, err := jsondoc.ParseObject(object)
	if err != nil {
		return s.Convert(ctx, object, from, to)
	}
	meta, errMeta := obj.Get("metadata")
	uid, errUID := obj.Get("metadata", "uid")
	if errMeta != nil || errUID != nil || uid != nil || meta != nil && meta.Kind() != jsondoc.Map {
		return s.Convert(ctx, object, from, to)
	}
	if err := obj.Set(jsondoc.StringValue("u"), "metadata", "uid"); err != nil {
		return nil, err
	}
	result, err := s.Convert(ctx, obj.Text(), from, to)
	if err != nil {
		return nil, err
	}
	there, err := jsondoc.ParseObject(result)
	if err != nil {
		return result, nil //nolint:nilerr // a law finds that
	}
	err = there.Remove("metadata", "uid")
	if left, _ := there.Get("metadata"); err == nil && meta == nil && left.Kind() == jsondoc.Map && left.Len() == 0 {
		err = there.Remove("metadata")
	}
	return there.Text(), err
}

// A Remote converts an object from one version to another, such as a webhook that someone else
// wrote. It may keep values in labels and annotations of its own.
type Remote func(ctx context.Context, object []byte, from, to string) ([]byte, error)

// remotely converts by Remote, and makes of the answer what the API server does: it takes labels
// and annotations from the answer, and all other metadata from the object.
func (s *Resource) remotely(ctx context.Context, object []byte, from, to string) ([]byte, error) {
	answer, err := s.remote(ctx, object, from, to)
	if err != nil {
		return nil, err
	}
	if _, err := jsondoc.Decode(answer, false); err != nil {
		return nil, fmt.Errorf("answer with an object that cannot be read: %w", err)
	}
	result, ok := tree.Literal(answer).(map[string]any)
	if !ok {
		return nil, errors.New("answer with something that is not an object")
	}
	source, _ := tree.Literal(object).(map[string]any)
	restoreMetadata(result, source)
	result["apiVersion"], result["kind"] = s.kind.Group+"/"+to, source["kind"]
	return tree.Encode(result), nil
}

// restoreMetadata does what the API server does to a converted object.
func restoreMetadata(result, source map[string]any) {
	theirs, _ := result["metadata"].(map[string]any)
	ours, had := source["metadata"].(map[string]any)
	meta := maps.Clone(ours)
	if meta == nil {
		meta = map[string]any{}
	}
	for _, name := range []string{"labels", "annotations"} {
		if delete(meta, name); !tree.IsAbsent(tree.At(theirs, name)) {
			meta[name] = theirs[name]
		}
	}
	if result["metadata"] = meta; !had && len(meta) == 0 {
		delete(result, "metadata")
	}
}

// Visible removes all kept values, and what [tree.Tidy] removes. A Remote keeps them under any
// names but those that random objects have.
func (s *Resource) Visible(object map[string]any) map[string]any {
	if s.remote == nil {
		return tree.Visible(object)
	}
	for _, in := range []string{"labels", "annotations"} {
		entries, _ := tree.At(object, "metadata", in).(map[string]any)
		maps.DeleteFunc(entries, func(name string, _ any) bool { return !slices.Contains(generate.EntryNames(), name) })
	}
	return tree.Tidy(object)
}
