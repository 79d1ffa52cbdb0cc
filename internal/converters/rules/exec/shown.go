package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A shown is the object that expressions see. That they see any is rare.
type shown struct {
	of             *jsondoc.Object
	text           []byte // of the object, if that is there already
	group, version string
}

// views are what expressions see of an object, each made when it is asked for.
type views struct{ object, metadata func() []byte }

// see returns the text of what expressions see.
func (s *shown) see() []byte {
	if obj := s.visible(); obj != nil && (obj != s.of || s.text == nil) {
		return obj.Text()
	}
	return s.text
}

// seeMetadata returns the text of the metadata that expressions see: for that alone the rest of the object is not read.
func (s *shown) seeMetadata() []byte {
	obj := s.visible()
	if obj == nil {
		return nil
	}
	return (&run{}).member(obj.Node, "metadata").Text()
}

// visible returns what expressions see: all but the annotations that webhookd keeps there. It is nil for what is no object.
func (s *shown) visible() *jsondoc.Object {
	obj, err := s.of, error(nil)
	if obj == nil {
		if obj, err = jsondoc.ParseObject(s.text); err != nil {
			return nil
		}
	}
	r, apiVersion := &run{}, s.group+"/"+s.version
	if r.isVisible(obj.Node, apiVersion) {
		return obj
	}
	c := obj.Copy()
	if c == nil {
		if c, err = jsondoc.ParseObject(obj.Text()); err != nil {
			return obj
		}
	}
	if was, _ := r.member(c.Node, "apiVersion").Str(); was != apiVersion && was != "" {
		r.note(c.Set(jsondoc.StringValue(apiVersion), "apiVersion"))
	}
	if r.tidy(r.member(c.Node, "metadata")); r.err != nil {
		return obj
	}
	return c
}

// isVisible reports whether expressions see an object as it is (BenchmarkKinds in package rules).
func (r *run) isVisible(n *jsondoc.Node, apiVersion string) bool {
	if was, _ := r.member(n, "apiVersion").Str(); was != apiVersion && was != "" {
		return false
	}
	metadata := r.member(n, "metadata")
	for _, field := range tidied() {
		all, own := r.member(metadata, field), false
		r.note(all.Filter(func(name []byte, _ jsondoc.Member) bool {
			own = own || keep.IsOwn(string(name))
			return true
		}))
		if own || all.Kind() == jsondoc.Null || r.isEmpty(all) {
			return false
		}
	}
	return true
}

// tidied are the fields of metadata that webhookd keeps values in.
func tidied() [2]string { return [2]string{"annotations", "labels"} }

// tidy removes from metadata what does not count: annotations of webhookd, labels and annotations that are null or empty.
func (r *run) tidy(metadata *jsondoc.Node) {
	for _, field := range tidied() {
		all := r.member(metadata, field)
		if all.Kind() == jsondoc.Map {
			r.note(all.Filter(func(name []byte, _ jsondoc.Member) bool { return !keep.IsOwn(string(name)) }))
		}
		if all.Kind() == jsondoc.Null || r.isEmpty(all) {
			r.note(metadata.RemoveMember(field))
		}
	}
}
