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

// maxDepth bounds how deep lists and mappings may nest. Objects in a cluster have far less.
const maxDepth = 200

// Parse reads a file and says everything that can be said without a CRD, all at once. The file is never nil; where there are
// findings, what they are about is left out of it.
func Parse(name string, text []byte) (*File, []finding.Finding) {
	file := &File{Name: name, Text: text}
	p := &parser{source: newSource(name, text)}
	if len(text) > MaxFile {
		p.say(Position{File: name}, "file-too-large", "the file is larger than 1 MiB", "split it: a directory may hold any number of files")
		return file, p.findings
	}
	documents := p.documents(text)
	for _, doc := range documents {
		before := len(p.findings)
		if c := p.conversion(doc.root); c != nil {
			c.Doubtful = doc.doubtful || p.doubt(before)
			c.Wrong = doc.wrong || len(p.findings) > before
			file.Conversions = append(file.Conversions, c)
		}
	}
	if len(documents) == 0 && len(p.findings) == 0 {
		p.say(Position{File: name}, "no-conversion", "the file has no Conversion", "start it with apiVersion: "+APIVersion)
	}
	return file, finding.Sort(p.findings)
}

// A parser collects what it finds while it reads one file.
type parser struct {
	source   *source
	findings []finding.Finding
}

func (p *parser) say(pos Position, code, message, hint string) {
	p.findings = append(p.findings, finding.Finding{Pos: pos, Code: code, Message: message, Hint: hint})
}

// sayAt is say about a scalar, as long as it is in the file.
func (p *parser) sayAt(n *yaml.Node, code, message, hint string) {
	end := 0
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		_, end = span(origin{source: p.source, node: n}, 0, len(n.Value))
	}
	p.findings = append(p.findings, finding.Finding{
		Pos: p.source.of(n), EndColumn: end, Code: code, Message: message, Hint: hint,
	})
}

// A rooted is a document of a file that is read on.
type rooted struct {
	root            *yaml.Node
	doubtful, wrong bool
}

// doubt reports whether some finding from an index on is about more than what has no effect.
func (p *parser) doubt(from int) bool {
	return slices.ContainsFunc(p.findings[from:], func(f finding.Finding) bool {
		return f.Code != "unused-rule-set" && f.Code != "yaml-anchor"
	})
}

// documents returns the file's documents but for empty ones, and those that are not to be read on.
func (p *parser) documents(text []byte) []rooted {
	var roots []rooted
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc yaml.Node
		switch err := dec.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return roots
		case err != nil:
			p.sayNotYAML(err)
			return roots
		}
		if len(doc.Content) == 0 {
			continue
		}
		root := doc.Content[0]
		if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Style&yaml.TaggedStyle == 0 {
			continue
		}
		before := len(p.findings)
		if p.sound(root, 0) {
			roots = append(roots, rooted{root, p.doubt(before), len(p.findings) > before})
		}
	}
}

// sayNotYAML takes the line off an error of the YAML parser.
func (p *parser) sayNotYAML(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	pos := Position{File: p.source.name}
	if head, rest, ok := strings.Cut(text, ": "); ok {
		if _, err := fmt.Sscanf(head, "line %d", &pos.Line); err == nil {
			text = rest
		}
		if strings.HasPrefix(text, "did not find expected") {
			pos.Line++ // the YAML parser counts from 0 here, and its scanner from 1
		}
	}
	hint := ""
	if pos.Line > 0 && pos.Line <= len(p.source.lines) {
		line := finding.SplitLines(p.source.text)[pos.Line-1]
		switch {
		case strings.ContainsAny(line, "{[") && strings.Contains(line, ": "):
			hint = "between { and }, put paths and expressions with brackets, braces or commas in quotes"
		case strings.Contains(line, "\t"):
			hint = "YAML is indented with spaces, not tabs"
		}
	}
	p.say(pos, "not-yaml", "not YAML: "+strings.ReplaceAll(text, "\n", " "), hint)
}

// sound looks at a whole document for what YAML has and Conversion files have not. It is false where nothing else may be
// read of it.
func (p *parser) sound(n *yaml.Node, depth int) bool {
	if depth > maxDepth {
		p.sayAt(n, "nested-too-deep", fmt.Sprintf("lists and mappings are nested deeper than %d", maxDepth), "")
		return false
	}
	if n.Anchor != "" {
		p.say(p.source.of(n), "yaml-anchor", "anchors are not supported", "write the value itself; rules that repeat go to ruleSets")
	}
	switch {
	case n.Kind == yaml.AliasNode:
		p.say(p.source.of(n), "yaml-alias", "aliases are not supported", "write the value itself; rules that repeat go to ruleSets")
		return true
	case n.Style&yaml.TaggedStyle != 0:
		p.say(p.source.of(n), "yaml-tag", "tags are not supported: "+n.Tag, "remove it")
	}
	if n.Kind == yaml.MappingNode {
		p.duplicates(n)
	}
	for _, c := range n.Content {
		if !p.sound(c, depth+1) {
			return false
		}
	}
	return true
}

// duplicates says which keys of a mapping are there twice, and which are no keys.
func (p *parser) duplicates(n *yaml.Node) {
	seen := map[[2]string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind == yaml.AliasNode:
			continue
		case key.Kind != yaml.ScalarNode:
			p.sayAt(key, "key-not-a-word", "a key is not a word", "write lines of KEY: VALUE; a key that starts with [ or { needs quotes")
			continue
		case isMerge(key):
			p.sayAt(key, "yaml-merge-key", "merge keys are not supported", "write the keys themselves; rules that repeat go to ruleSets")
			continue
		}
		id := [2]string{key.ShortTag(), key.Value}
		if first := seen[id]; first != nil {
			message := fmt.Sprintf("duplicate key %q, the first is in line %d", key.Value, first.Line)
			p.sayAt(key, "duplicate-key", message, "remove one")
			continue
		}
		seen[id] = key
	}
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Style == 0 && key.Value == "<<"
}
