package crdschema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

// member returns a member of a mapping, which has no value if there is none.
func member(n *yaml.Node, name string) (m yamljson.Member) {
	if n == nil {
		return m
	}
	members, _ := yamljson.Members(n) // its errors are reported when n becomes JSON
	if i := slices.IndexFunc(members, func(m yamljson.Member) bool { return m.Name == name }); i >= 0 {
		return members[i]
	}
	return m
}

// textAt returns the scalar at a key, or "".
func textAt(n *yaml.Node, name string) string {
	if value := member(n, name).Value; value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// A place is where a CRD or XRD is in its text. The tree of the text is not kept: it is read again
// for problems.
type place struct {
	line     int
	versions map[string]int // their lines, by path
	tree     func() *yaml.Node
}

// placeOf returns the place of a node.
func (p *parser) placeOf(n *yaml.Node) *place {
	at := &place{line: n.Line, versions: map[string]int{}}
	if versions := member(member(n, "spec").Value, "versions").Value; versions != nil {
		for i, v := range versions.Content {
			at.versions["spec.versions["+strconv.Itoa(i)+"]"] = v.Line
		}
	}
	line, column := n.Line, n.Column
	at.tree = sync.OnceValue(func() *yaml.Node {
		for document, err := range yamljson.Documents(p.text) {
			if err != nil {
				break
			}
			if found := find(document.Root, line, column); found != nil {
				return found
			}
		}
		return n // an alias
	})
	return at
}

// find returns the outermost mapping at a position.
func find(n *yaml.Node, line, column int) *yaml.Node {
	if n.Kind == yaml.MappingNode && n.Line == line && n.Column == column {
		return n
	}
	for _, part := range n.Content {
		if found := find(part, line, column); found != nil {
			return found
		}
	}
	return nil
}

// lineOf returns the line of the last step of a path that exists.
func (at *place) lineOf(path string) int {
	if line, known := at.versions[path]; known {
		return line
	}
	return lineOf(at.tree(), path)
}

// pathParts matches the steps of a path as k8s.io/apimachinery's field.Path writes it:
// a.b[0].c[key].
var pathParts = regexp.MustCompile(`\[[^\]]*\]|[^.\[]+`)

func lineOf(n *yaml.Node, path string) int {
	line := n.Line
	for _, part := range pathParts.FindAllString(path, -1) {
		part = strings.Trim(part, "[]")
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if i, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && i >= 0 && i < len(n.Content) {
			n = n.Content[i]
			line = n.Line
			continue
		}
		m := member(n, part)
		if m.Key == nil {
			break
		}
		line, n = m.Key.Line, m.Value
	}
	return line
}
