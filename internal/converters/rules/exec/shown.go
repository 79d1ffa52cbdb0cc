package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A shown is the object that expressions see. It implements transform.Source.
type shown struct {
	of             *jsondoc.Object
	text           []byte // of the object, if it is known
	group, version string
}

// Object implements transform.Source.
func (s *shown) Object() []byte {
	if obj := s.visible(); obj != nil && (obj != s.of || s.text == nil) {
		return obj.Text()
	}
	return s.text
}

// Metadata implements transform.Source.
func (s *shown) Metadata() *jsondoc.Node {
	obj := s.visible()
	if obj == nil {
		return nil
	}
	return (&run{}).member(obj.Node, "metadata")
}

// visible returns the object at its version without webhookd's own annotations and labels, or nil
// if the text is not an object.
func (s *shown) visible() *jsondoc.Object {
	obj, err := s.of, error(nil)
	if obj == nil {
		if obj, err = jsondoc.ParseObject(s.text); err != nil {
			return nil
		}
	}
	r := &run{}
	if r.isVisible(obj.Node, s) {
		return obj
	}
	c := obj.Copy()
	if c == nil {
		if c, err = jsondoc.ParseObject(obj.Text()); err != nil {
			return obj
		}
	}
	if was := r.member(c.Node, "apiVersion"); was.Kind() == jsondoc.String && !was.IsStr("") {
		r.note(c.Set(jsondoc.StringValue(s.group+"/"+s.version), "apiVersion"))
	}
	if r.tidy(r.member(c.Node, "metadata")); r.err != nil {
		return obj
	}
	return c
}

// isVisible reports whether expressions see an object as it is (BenchmarkKinds in package rules).
func (r *run) isVisible(n *jsondoc.Node, s *shown) bool {
	if was := r.member(n, "apiVersion"); was.Kind() == jsondoc.String && !s.isVersion(was) && !was.IsStr("") {
		return false
	}
	metadata := r.member(n, "metadata")
	for _, field := range tags() {
		all, own := r.member(metadata, field), false
		r.note(all.Filter(func(name []byte, _ jsondoc.Member) bool {
			own = own || annotation.IsOwn(name)
			return true
		}))
		if own || all.Kind() == jsondoc.Null || r.isEmpty(all) {
			return false
		}
	}
	return true
}

// isVersion reports whether a value is the apiVersion of the object.
func (s *shown) isVersion(n *jsondoc.Node) bool {
	literal := n.Text()
	text := literal[1 : len(literal)-1]
	group := len(s.group)
	return len(text) == group+1+len(s.version) && string(text[:group]) == s.group && text[group] == '/' && string(text[group+1:]) == s.version
}

func tags() [2]string { return [2]string{"annotations", "labels"} }

// tidy removes webhookd's own annotations and labels from metadata, and null or empty annotations
// or labels.
func (r *run) tidy(metadata *jsondoc.Node) {
	for _, field := range tags() {
		all := r.member(metadata, field)
		if all.Kind() == jsondoc.Map {
			r.note(all.Filter(func(name []byte, _ jsondoc.Member) bool { return !annotation.IsOwn(name) }))
		}
		if all.Kind() == jsondoc.Null || r.isEmpty(all) {
			r.note(metadata.RemoveMember(field))
		}
	}
}
