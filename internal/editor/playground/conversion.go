package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// A Conversion is what the object becomes at another version.
type Conversion struct {
	Version string `json:"version"`
	// Text is the object there as YAML. Problem says why there is none.
	Text    string `json:"text,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Fields say what becomes of each value.
	Fields []Field `json:"fields"`
	// Back is the object converted back, and Differences is what is not as it was.
	Back        string       `json:"back,omitempty"`
	Differences []Difference `json:"differences"`
	// Invalid is what the schema of the version has against the object.
	Invalid []string `json:"invalid,omitempty"`
	// KeptBytes is the size of the annotations with kept values.
	KeptBytes int `json:"keptBytes"`
}

// A Difference is a value that the way back changes. Was and Is are JSON texts, "" if absent.
type Difference struct {
	Path string `json:"path"`
	Was  string `json:"was,omitempty"`
	Is   string `json:"is,omitempty"`
	// Dropped says that a rule drops it on purpose.
	Dropped bool `json:"dropped,omitempty"`
}

// convert converts the object to each other version, and back.
func (v *evaluation) convert(ctx context.Context) {
	text, gvk, ok := v.object()
	if !ok {
		return
	}
	registry, err := v.set.Registry()
	if err != nil {
		v.objectProblem(0, err.Error(), "")
		return
	}
	kind := registry.Lookup(gvk.GroupKind())
	switch {
	case kind == nil:
		v.objectProblem(0, "no rules for "+gvk.GroupKind().String()+": .kind", "the rules are about "+v.out.Kind+": Random object makes one")
		return
	case !kind.Has(gvk.Version):
		v.objectProblem(0, fmt.Sprintf("no such version: %s", gvk.GroupVersion()), "use one of "+strings.Join(kind.Versions, ", "))
		return
	}
	v.out.Version = gvk.Version
	c := &converting{
		evaluation: v, kind: kind, gvk: gvk, text: text,
		reviewer: review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{}),
	}
	if c.source, err = readPlaces([]byte(v.in.Object)); err != nil {
		v.objectProblem(0, err.Error(), "")
		return
	}
	for _, problem := range v.invalid(gvk, text) {
		v.objectProblem(0, "the API server would refuse it: "+problem, "")
		last := &v.out.Findings[len(v.out.Findings)-1]
		last.Severity, last.Code = string(finding.Warning), "invalid"
	}
	for _, version := range versionsBut(kind.Versions, kind.Hub, gvk.Version) {
		if ctx.Err() == nil {
			v.out.Conversions = append(v.out.Conversions, c.to(ctx, version))
		}
	}
}

// object reads the object.
func (v *evaluation) object() ([]byte, schema.GroupVersionKind, bool) {
	var none schema.GroupVersionKind
	in, err := manifest.ParseFile(objectFile, []byte(v.in.Object))
	switch {
	case err != nil:
		line, message := 0, strings.TrimPrefix(err.Error(), objectFile+": ")
		if syntax, ok := errors.AsType[*yamljson.Error](err); ok {
			line = syntax.Line
		}
		v.objectProblem(line, message, "")
		return nil, none, false
	case len(in.Documents) == 0:
		v.objectProblem(0, "no object in the text", "Random object makes one, or choose an example")
		v.out.Findings[len(v.out.Findings)-1].Severity = string(finding.Note)
		return nil, none, false
	case len(in.Documents) > 1:
		v.objectProblem(0, fmt.Sprintf("%d objects in the text", len(in.Documents)), "leave one; webhookd convert takes several")
		return nil, none, false
	}
	_, gvk, err := manifest.ParseObject(in.Documents[0])
	if err != nil {
		v.objectProblem(0, err.Error(), "")
	}
	return in.Documents[0], gvk, err == nil
}

func (v *evaluation) objectProblem(line int, message, hint string) {
	f := problem("object", "object", message, hint)
	f.Line = line
	v.out.Findings = append(v.out.Findings, f)
}

// invalid returns what the API server has against an object.
func (v *evaluation) invalid(gvk schema.GroupVersionKind, text []byte) []string {
	crd := v.set.CRD(gvk.GroupKind())
	if crd == nil {
		return nil
	}
	version := crd.Version(gvk.Version)
	var object map[string]any
	if version == nil || version.Strategy == nil || utiljson.Unmarshal(text, &object) != nil {
		return nil
	}
	version.Prune(object)
	version.Default(object)
	const most = 20
	var problems []string
	for _, err := range version.Validate(object) {
		if len(problems) < most {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// A converting converts one object.
type converting struct {
	*evaluation
	reviewer *review.Reviewer
	kind     *converters.Kind
	gvk      schema.GroupVersionKind
	text     []byte
	source   *places
}

func (c *converting) convertTo(ctx context.Context, text []byte, version string) ([]byte, error) {
	return c.reviewer.Convert(ctx, text, schema.GroupVersion{Group: c.gvk.Group, Version: version}.String())
}

// to converts the object to a version and back.
func (c *converting) to(ctx context.Context, version string) (result Conversion) {
	result = Conversion{Version: version, Fields: []Field{}, Differences: []Difference{}}
	there, err := c.convertTo(ctx, c.text, version)
	var hub []byte
	if err == nil && c.gvk.Version != c.kind.Hub && version != c.kind.Hub {
		hub, err = c.convertTo(ctx, c.text, c.kind.Hub)
	}
	var text []byte
	if err == nil {
		text, err = yamljson.FromJSON(there)
	}
	var target *places
	if err == nil {
		target, err = readPlaces(text)
	}
	if err != nil {
		result.Problem = errorText(err)
		return result
	}
	result.Text, result.KeptBytes = string(text), keptBytes(there)
	of := c.gvk
	of.Version = version
	result.Invalid = c.invalid(of, there)
	result.Fields = c.fields(version, target, hub)
	c.back(ctx, &result, there)
	return result
}

// back converts the result back and compares it with the object.
func (c *converting) back(ctx context.Context, result *Conversion, there []byte) {
	back, err := c.convertTo(ctx, there, c.gvk.Version)
	var text []byte
	if err == nil {
		text, err = yamljson.FromJSON(back)
	}
	var is *places
	if err == nil {
		is, err = readPlaces(text)
	}
	if err != nil {
		result.Differences = append(result.Differences, Difference{Path: ".", Is: errorText(err)})
		return
	}
	result.Back = string(text)
	stored := differences(c.stored(c.text, c.source), c.stored(back, is))
	for _, d := range differences(c.source, is) {
		if d.Path == ".metadata" && d.Is == "{}" || !slices.ContainsFunc(stored, func(s Difference) bool { return s.Path == d.Path }) {
			continue // the API server gives both the same default, and metadata
		}
		d.Dropped = slices.ContainsFunc(result.Fields, func(f Field) bool { return f.From == d.Path && f.Class == dropped })
		result.Differences = append(result.Differences, d)
	}
}

// stored returns the places of an object as the API server has it, with the defaults of the schema.
func (c *converting) stored(text []byte, otherwise *places) *places {
	crd := c.set.CRD(c.gvk.GroupKind())
	if crd == nil || crd.Version(c.gvk.Version) == nil || crd.Version(c.gvk.Version).Strategy == nil {
		return otherwise
	}
	stored, _, err := crd.Version(c.gvk.Version).Stored(text)
	if err != nil {
		return otherwise
	}
	if read, err := readPlaces(stored); err == nil {
		return read
	}
	return otherwise
}

func keptBytes(object []byte) (size int) {
	var decoded struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if json.NewDecoder(bytes.NewReader(object)).Decode(&decoded) != nil {
		return 0
	}
	for name, value := range decoded.Metadata.Annotations {
		if isKept(name) {
			size += len(name) + len(value)
		}
	}
	return size
}
