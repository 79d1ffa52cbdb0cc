package crdschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxExpansion bounds how many times larger than the YAML the JSON may get by aliases; below minExpansion bytes anything
// goes.
const (
	maxExpansion = 64
	minExpansion = 8 << 20
)

// maxDepth bounds the nesting of a CRD, in which each level of its schema takes two. What looks for all ways through a schema
// takes the third power of its depth.
const maxDepth = 300

// A yamlError is a place in YAML that is no JSON.
type yamlError struct {
	line int
	text string
}

func (e *yamlError) Error() string { return e.text }

func failAt(n *yaml.Node, format string, args ...any) error {
	return &yamlError{n.Line, fmt.Sprintf(format, args...)}
}

// A jsonWriter writes YAML as JSON, read as kubectl reads it (sigs.k8s.io/yaml, which is YAML 1.1 by go-yaml v2).
type jsonWriter struct {
	out   []byte
	limit int
	depth int
	open  []*yaml.Node // the aliases that are being resolved
}

func (w *jsonWriter) value(n *yaml.Node) error {
	if len(w.out) > w.limit {
		return failAt(n, "aliases make this document too large, write it out")
	}
	if w.depth++; w.depth > maxDepth {
		return failAt(n, "nested deeper than %d levels, make the schema flatter", maxDepth)
	}
	defer func() { w.depth-- }()
	switch n.Kind {
	case yaml.AliasNode:
		if slices.Contains(w.open, n.Alias) {
			return failAt(n, "alias within what it stands for, write it out: *%s", n.Value)
		}
		w.open = append(w.open, n.Alias)
		defer func() { w.open = w.open[:len(w.open)-1] }()
		return w.value(n.Alias)
	case yaml.MappingNode:
		return w.mapping(n)
	case yaml.SequenceNode:
		return w.sequence(n)
	case yaml.ScalarNode:
		text, err := scalar(n)
		w.out = append(w.out, text...)
		return err
	case yaml.DocumentNode:
	}
	return failAt(n, "not a value")
}

func (w *jsonWriter) sequence(n *yaml.Node) error {
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *jsonWriter) mapping(n *yaml.Node) error {
	members, err := membersOf(n, 0)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, quoted(m.name)...), ':')
		if err := w.value(m.value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

type yamlMember struct {
	name       string
	key, value *yaml.Node
}

// nameOf returns what a key stands for: kubectl takes y, which is a boolean in YAML 1.1, for "true".
func nameOf(key *yaml.Node) string {
	if b, is := oldBool(key.Value); is && key.Style == 0 {
		return strconv.FormatBool(b)
	}
	return key.Value
}

// membersOf lists the members of a mapping, those that it merges (`<<`) behind its own.
func membersOf(n *yaml.Node, depth int) ([]yamlMember, error) {
	members := make([]yamlMember, 0, len(n.Content)/2)
	seen := make(map[string]bool, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := nameOf(key)
		switch {
		case key.Kind != yaml.ScalarNode:
			return nil, failAt(key, "key that is no word, write it as a string")
		case key.ShortTag() == "!!merge":
			merged = append(merged, value)
		case seen[name]:
			return nil, failAt(key, "key that is there twice, remove one: %s", name)
		default:
			seen[name] = true
			members = append(members, yamlMember{name, key, value})
		}
	}
	for _, source := range merged {
		more, err := mergedMembers(source, depth)
		if err != nil {
			return nil, err
		}
		for _, m := range more {
			if !seen[m.name] {
				seen[m.name] = true
				members = append(members, m)
			}
		}
	}
	return members, nil
}

// mergedMembers lists the members of a mapping, or of a list of them, that is merged into another.
func mergedMembers(n *yaml.Node, depth int) ([]yamlMember, error) {
	if depth > 64 {
		return nil, failAt(n, "merge keys within merge keys, write them out")
	}
	switch {
	case n.Kind == yaml.AliasNode:
		return mergedMembers(n.Alias, depth+1)
	case n.Kind == yaml.MappingNode:
		return membersOf(n, depth+1)
	case n.Kind != yaml.SequenceNode:
		return nil, failAt(n, "merge key of what is no mapping, write it out")
	}
	var members []yamlMember
	for _, item := range n.Content {
		more, err := mergedMembers(item, depth+1)
		if err != nil {
			return nil, err
		}
		members = append(members, more...)
	}
	return members, nil
}

// scalar returns the JSON of a scalar.
func scalar(n *yaml.Node) ([]byte, error) {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return []byte("null"), nil
	case "!!bool":
		return strconv.AppendBool(nil, strings.EqualFold(n.Value, "true")), nil
	case "!!int", "!!float":
		return number(n)
	case "!!str", "!!timestamp":
		if b, is := oldBool(n.Value); is && n.Style == 0 {
			return strconv.AppendBool(nil, b), nil
		}
		return quoted(n.Value), nil
	default:
		return nil, failAt(n, "tags are not supported, remove it: %s", tag)
	}
}

// oldBool tells the words that are booleans in YAML 1.1, and so to kubectl.
func oldBool(text string) (value, is bool) {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// number returns a number in the spelling of JSON: whole ones in their own, where that is one.
func number(n *yaml.Node) ([]byte, error) {
	if !strings.ContainsAny(n.Value, ".eE") && json.Valid([]byte(n.Value)) {
		return []byte(n.Value), nil
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, failAt(n, "number that cannot be read: %v", err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, failAt(n, "number that JSON cannot say, write another one: %s", n.Value)
	}
	return text, nil
}

func quoted(s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
