package crdschema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

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

// pathParts matches the steps of a path as k8s.io/apimachinery's field.Path writes it:
// a.b[0].c[key].
var pathParts = regexp.MustCompile(`\[[^\]]*\]|[^.\[]+`)

// lineOf returns the line of the last step of a path that exists.
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
