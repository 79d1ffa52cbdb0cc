package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// maxDepth bounds how deep lists and mappings may nest. Objects in a cluster nest far less.
const maxDepth = 200

// Parse reads a file and reports every problem that shows without a CRD and other files, all at
// once. The file is never nil; parts that a finding is about are left out of it.
func Parse(name string, text []byte) (*File, []finding.Finding) {
	file := &File{Name: name, Text: text}
	p := &parser{source: newSource(name, text)}
	if len(text) > MaxFile {
		p.say(Position{File: name}, "file-too-large", "the file is larger than 1 MiB", "split it: a directory may hold any number of files")
		file.Unread = true
		return file, p.findings
	}
	empty := true
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			p.sayNotYAML(err)
			file.Unread = true
			break
		}
		if isEmpty(&doc) {
			continue
		}
		if last := len(file.Conversions) - 1; last >= 0 && file.Conversions[last].end == 0 {
			file.Conversions[last].end = doc.Content[0].Line
		}
		before := len(p.findings)
		if !p.checkYAML(doc.Content[0], 0) {
			file.Unread = true
			continue
		}
		empty = false
		p.document(file, doc.Content[0], before)
	}
	if empty && len(p.findings) == 0 {
		p.say(Position{File: name}, "no-conversion", "the file has no Conversion", "start it with apiVersion: "+APIVersion)
	}
	return file, finding.Sort(p.findings)
}

func isEmpty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	root := doc.Content[0]
	return root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Style&yaml.TaggedStyle == 0
}

// A parser collects findings while it reads one file.
type parser struct {
	source   *source
	findings []finding.Finding
}

// document reads one document, whose YAML has the findings from index before on.
func (p *parser) document(file *File, root *yaml.Node, before int) {
	kind := ""
	if p.isMapping(root, "the document") {
		kind = p.kindOf(root)
	}
	switch kind {
	case Kind:
		c := p.conversion(root)
		c.Wrong, c.Doubtful = len(p.findings) > before, p.doubtful(before)
		file.Conversions = append(file.Conversions, c)
	case KindRuleSets:
		file.RuleSets = append(file.RuleSets, p.ruleSetsDocument(root, before))
	default:
		file.Unread = true
	}
}

// doubtful reports whether a finding from an index on is about more than the form of a text.
func (p *parser) doubtful(before int) bool {
	return slices.ContainsFunc(p.findings[before:], func(f finding.Finding) bool { return f.Code != "yaml-anchor" })
}

func (p *parser) say(pos Position, code, message, hint string) {
	p.findings = append(p.findings, finding.Finding{Pos: pos, Code: code, Message: message, Hint: hint})
}

// sayAt reports a finding about a node, and marks all of it if it is a scalar.
func (p *parser) sayAt(n *yaml.Node, code, message, hint string) {
	end := 0
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		_, end = origin{source: p.source, node: n}.span(0, len(n.Value))
	}
	p.findings = append(p.findings, finding.Finding{
		Pos: p.source.of(n), EndColumn: end, Code: code, Message: message, Hint: hint,
	})
}

// sayIn reports a finding about a part of a scalar.
func (p *parser) sayIn(o origin, from, to int, code, message, hint string) {
	at, end := o.span(from, to)
	p.findings = append(p.findings, finding.Finding{Pos: at, EndColumn: end, Code: code, Message: message, Hint: hint})
}

// checkYAML reports the parts of YAML that Conversion files may not have. It is false if a document
// cannot be read at all.
func (p *parser) checkYAML(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		p.sayAt(n, "nested-too-deep", fmt.Sprintf("lists and mappings are nested deeper than %d", maxDepth), "")
		return false
	}
	const inFull = "write the value itself; rules that repeat go into ruleSets"
	if n.Anchor != "" {
		p.say(p.source.of(n), "yaml-anchor", "anchors are not supported", inFull)
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.say(p.source.of(n), "yaml-alias", "aliases are not supported", inFull)
		return true
	case n.Style&yaml.TaggedStyle != 0:
		p.sayTag(n)
	}
	if isTemplate(n) {
		p.say(p.source.of(n), "template", templateLeft, renderFirst)
		return false
	}
	if n.Kind == yaml.MappingNode {
		p.checkNames(n)
	}
	return !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !p.checkYAML(c, depth+1) })
}

// isTemplate reports whether a mapping is a template in braces, such as those of Helm, which YAML
// reads as a mapping whose key is a mapping.
func isTemplate(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false
	}
	key := n.Content[0]
	return key.Kind == yaml.MappingNode && key.Line == n.Line && key.Column == n.Column+1
}

// sayTag reports a tag. Findings with the same position and message become one.
func (p *parser) sayTag(n *yaml.Node) {
	hint := "remove it"
	if !strings.HasPrefix(n.ShortTag(), "!!") {
		hint = "put an expression that starts with ! in quotes"
	}
	p.say(p.source.of(n), "yaml-tag", "tags are not supported: "+n.Tag, hint)
}

// checkNames reports keys of a mapping that are duplicates, merge keys, or not scalars.
func (p *parser) checkNames(n *yaml.Node) {
	firsts := map[[2]string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i]
		switch first := firsts[keyOf(name)]; {
		case name.Kind == yaml.AliasNode:
		case name.Kind != yaml.ScalarNode:
			p.sayAt(name, "key-not-a-word", "a key is not a word", "write lines of KEY: VALUE; a key that starts with [ or { needs quotes")
		case isMerge(name):
			p.sayAt(name, "yaml-merge-key", "merge keys are not supported", "write the keys themselves; rules that repeat go into ruleSets")
		case first != nil:
			p.sayAt(name, "duplicate-key", fmt.Sprintf("duplicate key %q, the first is on line %d", name.Value, first.Line), "remove one")
		default:
			firsts[keyOf(name)] = name
		}
	}
}
