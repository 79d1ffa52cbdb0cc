package crdschema

import (
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// unshown returns the paths of a version's scale subresource and printer columns that its schema
// lacks, each with what it is for.
func unshown(in *apiextensionsv1.CustomResourceDefinitionVersion, root *Node) (all []string) {
	look := func(what, path string) {
		if lacks(root, path) {
			all = append(all, what+" "+path)
		}
	}
	if in.Subresources != nil && in.Subresources.Scale != nil {
		scale := in.Subresources.Scale
		look("specReplicasPath", scale.SpecReplicasPath)
		look("statusReplicasPath", scale.StatusReplicasPath)
		if scale.LabelSelectorPath != nil {
			look("labelSelectorPath", *scale.LabelSelectorPath)
		}
	}
	for _, column := range in.AdditionalPrinterColumns {
		look("column "+column.Name, column.JSONPath)
	}
	return all
}

// jsonPathParts matches the parts of a JSON path that lead to a field or to elements.
var jsonPathParts = regexp.MustCompile(`\.([A-Za-z0-9_-]+)|\[[^\[\]]*\]`)

// lacks reports whether a schema cannot have a value at a JSON path. A path of other parts is not
// judged, nor one into metadata.
func lacks(at *Node, path string) bool {
	if strings.HasPrefix(path, ".metadata.") || jsonPathParts.ReplaceAllString(path, "") != "" {
		return false
	}
	for _, part := range jsonPathParts.FindAllStringSubmatch(path, -1) {
		switch {
		case at.Kind() == Any || at.Kind() == Map || at.PreservesUnknown():
			return false
		case part[1] != "":
			at = at.Property(part[1])
		default:
			at = at.Items()
		}
	}
	return at == nil && path != ""
}
