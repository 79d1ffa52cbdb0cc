package rules_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

const referencePage, recipePage = "../../../docs/reference/rules.md", "../../../docs/how-to/write-conversion-rules.md"

// Each example of a page is a block of YAML documents: RuleSets if there are any, the rules or all
// versions, then objects of v1beta1 and v1 in turn. The test holds it to its own results in both
// directions, to the checker and to the laws. Kept values have … for their digests.
func TestExamplesOfThePagesHold(t *testing.T) {
	t.Parallel()
	for _, page := range []struct {
		file  string
		least int // examples; fewer were not read
	}{{referencePage, 14}, {recipePage, 1}} {
		text, err := os.ReadFile(page.file)
		if err != nil {
			t.Fatal(err)
		}
		examples := referenceExamples(t, text)
		if len(examples) < page.least {
			t.Errorf("%d examples: the page is not read as it is written: %s", len(examples), page.file)
		}
		for _, e := range examples {
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				e.hold(t)
			})
		}
	}
}

// The page has every key of a rule, every codec and every kind of segment.
func TestReferenceHasEveryKey(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"spoke", "hub", "values", "hubValues", "template", "absent", "codec", "toHub", "toSpoke", "use", "ruleSets", "RuleSets", "sameAs", "defaultInSpoke",
		"defaultInHub", "whenToHub", "whenToSpoke", "drop", "mayBeAbsent", "omitEmpty", "go", "unmapped", "String",
		"DurationSeconds", "QuantityInt", "JSON", "YAML", "Base64", "[]", "{}", "[name]", "{name}", "[name=x]", "[0]", `["x/y"]`,
	} {
		if !bytes.Contains(page, []byte("`"+word+"`")) {
			t.Errorf("%s has nothing about `%s`", referencePage, word)
		}
	}
}

// An example is a block of the page.
type example struct {
	name    string // the heading above and the line
	pair    pair
	shared  string   // RuleSets
	same    []string // versions that are the same as v1beta1
	objects []string // of v1beta1 and v1 in turn, as JSON
	drops   []hold.Drop
}

func referenceExamples(t *testing.T, page []byte) []example {
	t.Helper()
	var examples []example
	heading, block, inside := "", "", false
	for i, line := range strings.Split(string(page), "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```yaml"
			if !inside && strings.Contains(block, "\n---\n") {
				examples = append(examples, newExample(t, fmt.Sprintf("%s, above line %d", heading, i+1), block))
			}
			block = ""
		case inside:
			block += line + "\n"
		case strings.HasPrefix(line, "#"):
			heading = strings.Trim(line, "# `")
		}
	}
	return examples
}

func newExample(t *testing.T, name, block string) example {
	t.Helper()
	docs := documents(t, block)
	e := example{name: name}
	for len(docs) > 0 && partOf(docs[0], "ruleSets") != nil && partOf(docs[0], "metadata") != nil {
		e.shared += "---\n" + textOf(t, docs[0])
		docs = docs[1:]
	}
	e.rules(t, docs[0])
	var beta, v1 any
	for i := 1; i+1 < len(docs); i += 2 {
		beta, v1 = merge(beta, shorthand(docs[i])), merge(v1, shorthand(docs[i+1]))
		e.objects = append(e.objects, objectOf(t, docs[i], "v1beta1"), objectOf(t, docs[i+1], "v1"))
	}
	if len(e.objects) == 0 || len(docs)%2 == 0 {
		t.Fatalf("%s: %d documents, want the rules and pairs of objects", name, len(docs))
	}
	file, found := syntax.Parse("rules.yaml", e.pair.file())
	if len(found) > 0 {
		t.Fatalf("%s: %v", name, found)
	}
	version := file.Conversions[0].Versions[0]
	lists := version.Rules
	for _, rule := range lists {
		if rule.Spoke != nil {
			beta = shape(beta, rule.Spoke)
		}
		if rule.Hub != nil {
			v1 = shape(v1, rule.Hub)
		}
		if rule.Drop != nil {
			e.drops = append(e.drops, dropOf(rule)...)
		}
	}
	e.pair.beta, e.pair.v1 = jsonOf(t, beta), jsonOf(t, v1)
	return e
}

func dropOf(rule *syntax.Rule) []hold.Drop {
	if rule.Spoke != nil {
		return []hold.Drop{{From: "v1beta1", Path: rule.Spoke.Paths[0].Path.Text}}
	}
	return []hold.Drop{{From: "v1", Path: rule.Hub.Paths[0].Path.Text}}
}

// hold checks the rules, converts each object there and back, and checks the laws.
func (e example) hold(t *testing.T) {
	t.Helper()
	crds, err := apiserver.Parse("crd.yaml", e.crd(t))
	if err != nil {
		t.Fatal(err)
	}
	// Without `unmapped`, as a user starts.
	text := bytes.Replace(e.pair.file(), []byte("    unmapped: Preserve\n"), nil, 1)
	for _, name := range e.same {
		text = fmt.Appendf(text, "  - {name: %s, sameAs: v1beta1}\n", name)
	}
	sources := []rules.Source{{Name: "rules.yaml", Text: text}}
	if e.shared != "" {
		sources = append(sources, rules.Source{Name: "shared.yaml", Text: []byte(e.shared)})
	}
	set, findings := rules.Load(t.Context(), sources, crds, rules.Options{})
	checked, _ := check.Check(t.Context(), set.Bound())
	for _, f := range finding.Worst(append(findings, checked...), finding.Warning) {
		t.Errorf("%s (%s)", f, f.Hint)
	}
	if t.Failed() || len(set.Kinds()) != 1 {
		t.Fatalf("no kind of\n%s", text)
	}
	kind := &set.Kinds()[0]
	samples := make([][]byte, 0, len(e.objects))
	for i := range e.objects {
		from, to, want := "v1beta1", "v1", e.objects[i^1]
		if i%2 == 1 {
			from, to = to, from
		}
		object := e.object(t, kind, i)
		samples = append(samples, []byte(object))
		if len(e.drops) > 0 && i%2 == 1 {
			continue
		}
		got := convert(t, kind, object, from, to)
		if diff := cmp.Diff(decoded(t, want), decoded(t, withDots(got))); diff != "" {
			t.Errorf("%s -> %s (-page +got):\n%s", from, to, diff)
		}
		for _, same := range e.same {
			as := func(text string) string { return strings.Replace(text, "example.com/v1beta1", "example.com/"+same, 1) }
			version := strings.NewReplacer("v1beta1", same)
			got := convert(t, kind, as(object), version.Replace(from), version.Replace(to))
			if diff := cmp.Diff(decoded(t, as(want)), decoded(t, got)); diff != "" {
				t.Errorf("%s for v1beta1, %s -> %s (-page +got):\n%s", same, from, to, diff)
			}
		}
	}
	suite := hold.Suite{Kind: kind, CRD: crds[0], Drops: e.drops, Stored: true, Walks: true, Forgeries: true}
	if err := suite.Check(t.Context(), slices.Values(samples)); err != nil {
		t.Error(err)
	}
	if _, err := suite.Fuzz(t.Context(), *objects/4); err != nil {
		t.Error(err)
	}
}

// object returns an object of the example. Its kept values get the digests that converting its
// counterpart gives; another test compares those with the page.
func (e example) object(t *testing.T, kind *converters.Kind, i int) string {
	t.Helper()
	switch {
	case !strings.Contains(e.objects[i], dots):
		return e.objects[i]
	case strings.Contains(e.objects[i^1], dots):
		t.Fatal("kept values on both sides: the digests cannot be known")
	case i%2 == 0:
		return convert(t, kind, e.objects[i^1], "v1", "v1beta1")
	}
	return convert(t, kind, e.objects[i^1], "v1beta1", "v1")
}

// dots replaces digests, as the pages do.
const dots = "…"

var digestMember = regexp.MustCompile(`(\\"(?:inputs|was|alike)\\":\\")[^"\\]+`)

// withDots returns an object as the pages show it: its annotations without digests.
func withDots(object string) string { return digestMember.ReplaceAllString(object, "${1}"+dots) }

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func documents(t *testing.T, block string) []*yaml.Node {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(block))
	var docs []*yaml.Node
	for {
		var doc yaml.Node
		err := decoder.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return docs
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, block)
		}
		docs = append(docs, doc.Content[0])
	}
}

// partOf returns the value of a key of a mapping, or nil.
func partOf(doc *yaml.Node, key string) *yaml.Node {
	for i := 0; doc.Kind == yaml.MappingNode && i < len(doc.Content); i += 2 {
		if doc.Content[i].Value == key {
			return doc.Content[i+1]
		}
	}
	return nil
}

// textOf returns the YAML of a node, or nothing.
func textOf(t *testing.T, n *yaml.Node) string {
	t.Helper()
	if n == nil {
		return ""
	}
	out, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// rules reads the document of rules: a list of those of v1beta1, or a mapping with its keys and
// rule sets, or with all versions.
func (e *example) rules(t *testing.T, doc *yaml.Node) {
	t.Helper()
	list := doc
	if doc.Kind == yaml.MappingNode {
		list = partOf(doc, "rules")
	}
	if versions := partOf(doc, "versions"); versions != nil {
		for _, v := range versions.Content {
			if partOf(v, "sameAs") != nil {
				e.same = append(e.same, partOf(v, "name").Value)
			} else {
				list = partOf(v, "rules")
			}
		}
	}
	e.pair.rules, e.pair.sets = textOf(t, list), textOf(t, partOf(doc, "ruleSets"))
}

// crd returns the CRD, in which versions that are the same have the same schema.
func (e *example) crd(t *testing.T) []byte {
	t.Helper()
	if len(e.same) == 0 {
		return e.pair.crd(t)
	}
	crd := decodedJSON(t, string(e.pair.crd(t)))
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, name := range e.same {
		beta, _ := versions[0].(map[string]any)
		same := maps.Clone(beta)
		same["name"] = name
		versions = append(versions, same)
	}
	spec["versions"] = versions
	return []byte(jsonOf(t, crd))
}

// objectOf completes the object of an example.
func objectOf(t *testing.T, doc *yaml.Node, version string) string {
	t.Helper()
	object := map[string]any{}
	if err := doc.Decode(&object); err != nil {
		t.Fatal(err)
	}
	object["apiVersion"], object["kind"] = "example.com/"+version, "Thing"
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
	}
	metadata["name"] = "n"
	object["metadata"] = metadata
	raw, err := jsondoc.ParseObject([]byte(jsonOf(t, object)))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw.Text())
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
