package crdwire

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// schemasOf returns the schemas of a CRD as rules read them.
func schemasOf(crd *CRD) (*crdschema.CRD, error) {
	whole := *crd
	whole.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: crdKind} // items of lists lack it
	text, err := json.Marshal(&whole)
	if err != nil {
		return nil, err
	}
	crds, err := apiserver.Parse(crd.Name, text)
	if err != nil {
		return nil, err
	}
	return crds[0], nil
}

// judgeNone compares the versions that clients read and write with the first of them: without a
// webhook, the API server changes nothing but apiVersion.
func (s *inspected) judgeNone(context.Context) {
	var used []string
	for _, v := range s.Spec.Versions {
		if v.Served || v.Storage || slices.Contains(s.Status.StoredVersions, v.Name) {
			used = append(used, v.Name)
		}
	}
	if len(used) < 2 {
		s.say(OK, "one version is used, and there is nothing to convert")
		return
	}
	schemas, err := schemasOf(s.CRD)
	if err != nil {
		s.say(NotChecked, "schemas that cannot be compared: %s", oneLine(err))
		return
	}
	first := schemas.Version(used[0])
	for _, name := range used[1:] {
		d := crdschema.Compare(first.Root, schemas.Version(name).Root)
		if lost := slices.Concat(d.First, d.Second); len(lost) > 0 {
			s.say(Wrong, "None, but %s and %s differ, and a write at one drops what only the other has: %s", used[0], name, few(lost))
		}
	}
	s.sayOK("None: %s have the same fields", strings.Join(used, ", "))
}

// compare compares the CRD with the copy that the rules are compiled with.
func (s *inspected) compare(context.Context) {
	mine := s.o.Copy(s.Name)
	theirs, err := schemasOf(s.CRD)
	if err != nil {
		s.say(Wrong, "schemas that cannot be compared with the copy in %s: %s", mine.File, oneLine(err))
		return
	}
	find := func(places []string, what string) {
		if len(places) > 0 {
			s.say(Wrong, "the copy in %s %s, update it: %s", mine.File, what, few(places))
		}
	}
	for _, v := range theirs.Versions {
		if own := mine.Version(v.Name); own != nil {
			d := crdschema.Compare(v.Root, own.Root)
			find(d.First, "lacks fields of "+v.Name)
			find(d.Second, "has fields of "+v.Name+" that the CRD lacks")
			find(d.Other, "has another type or default for fields of "+v.Name)
		}
	}
	find(without(mine.VersionNames(), theirs.VersionNames()), "has versions that the CRD lacks")
	s.sayOK("the copy in %s is the same", mine.File)
}

func few(places []string) string {
	const most = 20
	return finding.Few(places, most)
}
