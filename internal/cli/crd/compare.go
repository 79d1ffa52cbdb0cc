package crd

import (
	"encoding/json"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// maxCompared limits how many paths of one version a finding lists.
const maxCompared = 20

// copyOf returns the CRD that the rules are compiled with, or nil.
func copyOf(s *ruleset.Set, name string) *crdschema.CRD {
	for _, crd := range s.CRDs {
		if crd.Name == name {
			return crd
		}
	}
	return nil
}

// compareWithCopy returns the differences between a CRD and the copy that the rules are compiled
// with, if any.
func compareWithCopy(s *ruleset.Set, crd *crdwire.CRD) (file string, findings []string) {
	mine := copyOf(s, crd.Name)
	if mine == nil {
		return "", nil
	}
	theirs, err := schemasOf(crd)
	if err != nil {
		return mine.File, []string{fmt.Sprintf("schemas that cannot be compared with the copy in %s: %s", mine.File, strings.ReplaceAll(err.Error(), "\n", "; "))}
	}
	find := func(places []string, format string, args ...any) {
		if len(places) == 0 {
			return
		}
		if more := len(places) - maxCompared; more > 0 {
			places = append(places[:maxCompared:maxCompared], fmt.Sprintf("and %d more", more))
		}
		findings = append(findings, fmt.Sprintf("the copy in %s "+format+", update it: %s", append([]any{mine.File}, append(args, strings.Join(places, ", "))...)...))
	}
	for _, v := range theirs.Versions {
		if own := mine.Version(v.Name); own != nil {
			d := crdschema.Compare(v.Root, own.Root)
			find(d.First, "lacks fields of %s", v.Name)
			find(d.Second, "has fields of %s that the CRD lacks", v.Name)
			find(d.Other, "has another type or default for fields of %s", v.Name)
		}
	}
	var gone []string // versions that the copy lacks have no converter, which is another finding
	for _, v := range mine.Versions {
		if theirs.Version(v.Name) == nil {
			gone = append(gone, v.Name)
		}
	}
	find(gone, "has versions that the CRD lacks")
	return mine.File, findings
}

// schemasOf returns the schemas of a CRD as the rule engine reads them.
func schemasOf(crd *crdwire.CRD) (*crdschema.CRD, error) {
	whole := *crd
	whole.TypeMeta = metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: manifest.KindCRD} // items of lists lack it
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
