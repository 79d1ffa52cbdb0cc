package roundtrip

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Rejection says how many valid objects of a version become objects that another version refuses,
// and why. The paths are of the version To.
type Rejection struct {
	From, To string
	// Objects is how many of All are refused there.
	Objects, All uint64
	Causes       []Refusal
}

type rejected struct {
	objects, all uint64
	causes       refusals
}

// outcome counts whether a version accepts what a valid object becomes there, with its pruning, its
// defaults and its validation rules.
func (s *suite) outcome(t *subject, to string, there []byte) {
	schema := s.Schema(to)
	if !s.Outcomes || schema == nil || there == nil || t.keeps || t.refused {
		return
	}
	reasons := reasonsOf(schema, slices.DeleteFunc(schema.Validate(s.View(to, there)), func(err *field.Error) bool {
		path, _ := schemaPath(schema.Root, err.Field)
		return err.Type == field.ErrorTypeRequired && s.MayBeAbsent != nil && s.MayBeAbsent(t.version, to, path)
	}))
	s.lock.Lock()
	defer s.lock.Unlock()
	d := direction{t.version, to}
	r := s.rejected[d]
	if r == nil {
		r = &rejected{causes: refusals{}}
		s.rejected[d] = r
	}
	r.all++
	if len(reasons) > 0 {
		r.objects++
		r.causes.add(reasons)
	}
}

// rejections returns the directions with refused objects, in the order of the versions.
func (s *suite) rejections() []Rejection {
	var all []Rejection
	for _, from := range s.Versions {
		for _, to := range s.Others(from) {
			if r := s.rejected[direction{from, to}]; r != nil && r.objects > 0 {
				all = append(all, Rejection{from, to, r.objects, r.all, r.causes.sorted()})
			}
		}
	}
	return all
}
