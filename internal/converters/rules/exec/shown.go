package exec

import (
	"slices"

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

// see returns what expressions see: all but the annotations that webhookd keeps there.
func (s *shown) see() []byte {
	obj, err := s.object()
	r, apiVersion := &run{}, s.group+"/"+s.version
	switch {
	case err != nil:
		return s.text
	case !r.isVersion(obj.Node, apiVersion) || !r.isTidy(r.member(obj.Node, "metadata")):
		return visible(obj, apiVersion)
	case s.text != nil:
		return s.text
	}
	return obj.Text()
}

// seeMetadata returns what expressions see of metadata: for that alone the rest of the object is not read.
func (s *shown) seeMetadata() []byte {
	obj, err := s.object()
	if err != nil {
		return nil
	}
	r := &run{}
	metadata := r.member(obj.Node, "metadata")
	if metadata == nil || r.isTidy(metadata) || r.err != nil {
		return metadata.Text()
	}
	holder, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), metadata.Text(), []byte("}")))
	if err != nil {
		return metadata.Text()
	}
	r.tidy(r.member(holder.Node, ""))
	return r.member(holder.Node, "").Text()
}

// object returns the object.
func (s *shown) object() (*jsondoc.Object, error) {
	if s.of != nil {
		return s.of, nil
	}
	return jsondoc.ParseObject(s.text)
}

func (r *run) isVersion(n *jsondoc.Node, apiVersion string) bool {
	was, _ := r.member(n, "apiVersion").Str()
	return was == apiVersion || was == ""
}

// isTidy reports whether expressions see metadata as it is (BenchmarkKinds in package rules).
func (r *run) isTidy(metadata *jsondoc.Node) bool {
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
	if !r.isVersion(obj.Node, apiVersion) {
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
