package crdschema

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

const crdKind = "CustomResourceDefinition"

// Parse returns the CRDs of a YAML or JSON text with any number of documents, lists of objects
// included, and those that Crossplane makes of a CompositeResourceDefinition. It skips objects of
// other kinds, and patches of CRDs. The file is for messages.
//
// The error is a ParseErrors with everything that is wrong in any CRD. Parse also returns the CRDs
// without errors then. Without newStrategy, it does not check defaults, and no version has a
// [Strategy].
func Parse(file string, text []byte, newStrategy NewStrategy) ([]*CRD, error) {
	p := &parser{file: file, text: text, lines: map[string]int{}, newStrategy: newStrategy}
	for document, err := range yamljson.Documents(text) {
		if err != nil {
			p.reportYAML(err)
			break
		}
		p.document, p.document.Canonical = document, true
		p.object(document.Root)
	}
	return p.crds, p.problems.sorted()
}

// maxDepth bounds the nesting of a CRD, in which a level of its schema takes two. Walks over all
// paths of a schema take the third power of its depth.
const maxDepth = 300

// A parser collects the CRDs and problems of one text.
type parser struct {
	file     string
	text     []byte
	document yamljson.Document
	crds     []*CRD
	lines    map[string]int // of the CRDs by name
	problems ParseErrors

	newStrategy NewStrategy // or nil
}

func (p *parser) report(line int, format string, args ...any) {
	p.problems = append(p.problems, &ParseError{File: p.file, Line: line, Text: fmt.Sprintf(format, args...)})
}

// reportYAML reports an error of yamljson.
func (p *parser) reportYAML(err error) {
	if at, ok := errors.AsType[*yamljson.Error](err); ok {
		p.report(at.Line, "%s", at.Problem)
		return
	}
	p.report(0, "%v", err)
}

// object reads an object, or the items of a list of objects.
func (p *parser) object(n *yaml.Node) {
	apiVersion, kind := textAt(n, "apiVersion"), textAt(n, "kind")
	group, version, _ := strings.Cut(apiVersion, "/")
	switch {
	case kind == "List" && apiVersion == "v1" || kind == crdKind+"List" || kind == xrd.Kind+"List":
		if items := member(n, "items").Value; items != nil {
			for _, item := range items.Content {
				p.object(item)
			}
		}
	case xrd.Is(apiVersion, kind):
		p.definition(n, apiVersion)
	case kind != crdKind || group != apiextensionsv1.GroupName && strings.Contains(group, "."):
	case group != apiextensionsv1.GroupName:
		p.report(n.Line, "not the apiVersion of a %s, write apiextensions.k8s.io/v1: %q", crdKind, apiVersion)
	case version != "v1":
		p.report(n.Line, "apiVersion of a %s that no API server has served since Kubernetes 1.22, write it as %s/v1: %q",
			crdKind, group, apiVersion)
	default:
		p.crd(n)
	}
}

func (p *parser) crd(n *yaml.Node) {
	var in apiextensionsv1.CustomResourceDefinition
	if at := p.decode(n, crdKind, &in); at != nil && !isPatch(&in) {
		p.add(&in, at)
	}
}

// definition reads the CRDs that Crossplane makes of an XRD. Problems have lines of the XRD, whose
// versions are as those of a CRD.
func (p *parser) definition(n *yaml.Node, apiVersion string) {
	if !xrd.Known(apiVersion) {
		p.report(n.Line, "apiVersion of a %s that is not known, write %s/v1 or v2: %q", xrd.Kind, xrd.Group, apiVersion)
		return
	}
	var in xrd.Definition
	at := p.decode(n, xrd.Kind, &in)
	if at == nil || in.Spec.Group == "" && in.Spec.Names.Kind == "" && len(in.Spec.Versions) == 0 && in.Name != "" {
		return // a patch
	}
	crds, problems := in.CRDs()
	for _, err := range problems {
		p.report(at.lineOf(err.Field), "%s: %s", err.ErrorBody(), err.Field)
	}
	for _, crd := range crds {
		p.add(crd, at)
	}
}

// add adds a CRD, or reports what is wrong with it.
func (p *parser) add(in *apiextensionsv1.CustomResourceDefinition, at *place) {
	before := len(p.problems)
	crd := p.convert(in, at)
	if line, taken := p.lines[crd.Name]; taken {
		p.report(crd.Line, "%s that is here twice, remove one; the other is in line %d: %s", crdKind, line, crd.Name)
	}
	p.lines[crd.Name] = crd.Line
	if len(p.problems) == before {
		p.crds = append(p.crds, crd)
	}
}

// isPatch reports whether a CRD is only a part of one, as the patches of a kustomization are, which
// are in the folder of the CRDs (config/crd/patches of a kubebuilder project).
func isPatch(in *apiextensionsv1.CustomResourceDefinition) bool {
	return in.Name != "" && in.Spec.Group == "" && in.Spec.Names.Kind == "" && in.Spec.Scope == "" && len(in.Spec.Versions) == 0
}

// decode reads a CRD or XRD, and returns where it is, or nil if it cannot be read. It reports
// unknown fields, which the API server ignores or refuses. It empties the node, which takes much
// more memory than its text.
func (p *parser) decode(n *yaml.Node, kind string, into any) *place {
	text, err := p.json(n)
	if err != nil {
		p.reportYAML(err)
		return nil
	}
	at := p.placeOf(n)
	n.Content = nil
	unknown, err := sigsjson.UnmarshalStrict(text, into)
	if err != nil {
		p.report(at.line, "not a %s: %v", kind, err)
		return nil
	}
	for _, err := range unknown {
		p.reportStrict(at, kind, err)
	}
	return at
}

// json returns the JSON that kubectl makes of a node, in which a whole number has no point.
func (p *parser) json(n *yaml.Node) ([]byte, error) {
	text, err := p.document.JSON(n, maxDepth)
	if err != nil {
		return nil, err
	}
	obj, err := jsondoc.ParseObject(text)
	if err != nil {
		return nil, err
	}
	bundle, err := obj.Get("spec", "conversion", "webhook", "clientConfig", "caBundle")
	if is, ok := bundle.Str(); err == nil && ok {
		bundle.Replace(jsondoc.StringValue(xrd.Decodable(is)))
	}
	return obj.Text(), err
}

// reportStrict reports a field that is not known or there twice, whose path the error quotes.
func (p *parser) reportStrict(at *place, kind string, err error) {
	text, path := err.Error(), ""
	if from, to := strings.IndexByte(text, '"'), strings.LastIndexByte(text, '"'); from < to {
		path = text[from+1 : to]
	}
	p.report(at.lineOf(path), "not a %s: %s", kind, text)
}
