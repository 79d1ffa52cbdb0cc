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

// see returns what expressions see: all but the annotations that webhookd keeps there.
func (s *shown) see() []byte {
	obj := s.of
	if obj == nil {
		var err error
		if obj, err = jsondoc.ParseObject(s.text); err != nil {
			return s.text
		}
	}
	r, apiVersion := &run{}, s.group+"/"+s.version
	if r.isVisible(obj.Node, apiVersion) {
		if s.text != nil {
			return s.text
		}
		return obj.Text()
	}
	return visible(obj, apiVersion)
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

// visible returns what expressions see of an object: all but the annotations that webhookd keeps there.
func visible(of *jsondoc.Object, apiVersion string) []byte {
	obj := of.Copy()
	if obj == nil {
		var err error
		if obj, err = jsondoc.ParseObject(of.Text()); err != nil {
			return of.Text()
		}
	}
	r := &run{}
	if was, _ := r.member(obj.Node, "apiVersion").Str(); was != apiVersion && was != "" {
		r.note(obj.Set(jsondoc.StringValue(apiVersion), "apiVersion"))
	}
	r.tidy(r.member(obj.Node, "metadata"))
	if r.err != nil {
		return of.Text()
	}
	return obj.Text()
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
