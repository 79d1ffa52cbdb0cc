package exec

import (
	"encoding/json"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// The API server defaults an object of the version that it stores before it has it converted, and tidies the metadata of the
// resources in it, so a place of which a stash says that nothing was there may have the default by now. That is no edit.

// asStored returns an object of the source's version with the API server's defaults, or nil if it would not take it. What it
// would remove as none of its schema stays: that was never stored.
func (v *conversion) asStored(text []byte) (*jsondoc.Object, error) {
	schema := v.schemas[v.from]
	var obj map[string]any
	if err := utiljson.Unmarshal(text, &obj); err != nil || obj == nil || schema == nil {
		return nil, nil //nolint:nilnil,nilerr // as said
	}
	schema.Coerce(obj)
	schema.Default(obj)
	stored, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return v.scratch.open(stored)
}

// agreeAsStored looks at the entries that converting back speaks against: what that gives may become what the source says. Then
// back is made to say it, for there is nothing to keep of it. It returns those that still disagree, or nil.
func (v *conversion) agreeAsStored(r *run, chosen []kept, disagree []bool, back, x *jsondoc.Object) ([]bool, error) {
	stored, err := v.asStored(back.Text())
	if stored == nil || err != nil {
		return disagree, err
	}
	left := 0
	for i := range chosen {
		if !disagree[i] {
			continue
		}
		if !r.agrees(&chosen[i], stored.Node, x.Node) {
			left++
			continue
		}
		disagree[i], v.defaulted = false, true
		for _, l := range chosen[i].links {
			if !r.ties(l, back.Node, x.Node) {
				r.bring(back, l.path, r.find(x.Node, l.path))
			}
		}
	}
	if left == 0 {
		return nil, r.err
	}
	return disagree, r.err
}

// bring sets or removes the value at a path, as far as that is no element of a list.
func (r *run) bring(obj *jsondoc.Object, path []plan.Step, value *jsondoc.Node) {
	last := len(path) - 1
	if last < 0 || path[last].Kind != plan.ByName {
		return
	}
	n := obj.Node
	for i := range path[:last] {
		m := r.part(n, &path[i])
		if m == nil && (value == nil || path[i].Kind != plan.ByName || n.Kind() != jsondoc.Map) {
			return
		}
		if m == nil {
			empty, err := jsondoc.RawValue([]byte("{}"))
			r.note(err)
			r.note(n.SetMember(path[i].Name, empty))
			m = r.member(n, path[i].Name)
		}
		n = m
	}
	switch {
	case n.Kind() != jsondoc.Map:
	case value == nil:
		r.note(n.RemoveMember(path[last].Name))
	default:
		r.note(n.SetMember(path[last].Name, value.Value()))
	}
}
