package crdschema

import (
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/yamljson"
)

// member returns the value of a mapping's key, or nil.
func member(n *yaml.Node, name string) *yaml.Node {
	_, value := memberOf(n, name)
	return value
}

func memberOf(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n == nil {
		return nil, nil
	}
	members, _ := yamljson.Members(n) // they are reported when they become JSON
	for _, m := range members {
		if m.Name == name {
			return m.Key, m.Value
		}
	}
	return nil, nil
}

// textAt returns the string at a key, or "".
func textAt(n *yaml.Node, name string) string {
	value := member(n, name)
	if value == nil || value.Kind != yaml.ScalarNode {
		return ""
	}
	return value.Value
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
		key, value := memberOf(n, part)
		if key == nil {
			break
		}
		line, n = key.Line, value
	}
	return line
}
