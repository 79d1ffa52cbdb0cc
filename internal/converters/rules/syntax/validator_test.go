package syntax_test

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func bytesOf(text string) io.Reader { return strings.NewReader(text) }

// plain returns a node as encoding/json would decode it.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.DocumentNode:
		return plain(n.Content[0])
	case yaml.MappingNode:
		object := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			object[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return object
	case yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, plain(c))
		}
		return list
	case yaml.ScalarNode, yaml.AliasNode:
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return n.Value == "true"
	case "!!int", "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}

// A validator has the part of JSON Schema draft 7 that the schema of a Conversion uses. It refuses
// unknown keywords, so none goes untested.
type validator struct{ definitions map[string]any }

func (v validator) refuses(schema map[string]any, value any, at string) string {
	for keyword, rule := range schema {
		if refused := v.keyword(schema, keyword, rule, value, at); refused != "" {
			return refused
		}
	}
	return ""
}

func (v validator) keyword(schema map[string]any, keyword string, rule, value any, at string) string {
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	text, isText := value.(string)
	no := func(format string, args ...any) string { return at + ": " + fmt.Sprintf(format, args...) }
	switch keyword {
	case "$schema", "title", "description", "definitions", "then", "else":
	case "$ref":
		name := strings.TrimPrefix(rule.(string), "#/definitions/")
		return v.refuses(v.definitions[name].(map[string]any), value, at)
	case "const":
		if !reflect.DeepEqual(rule, value) {
			return no("not %v", rule)
		}
	case "enum":
		if !slices.Contains(rule.([]any), value) {
			return no("not one of %v", rule)
		}
	case "type":
		if !hasType(rule, value) {
			return no("not %v", rule)
		}
	case "pattern":
		if isText && !regexp.MustCompile(rule.(string)).MatchString(text) {
			return no("does not match %v", rule)
		}
	case "minLength":
		if isText && text == "" {
			return no("empty")
		}
	case "minItems":
		if isList && len(list) == 0 {
			return no("no elements")
		}
	case "uniqueItems":
		for i, e := range list {
			if slices.ContainsFunc(list[:i], func(other any) bool { return reflect.DeepEqual(e, other) }) {
				return no("an element twice")
			}
		}
	case "minProperties":
		if isObject && len(object) == 0 {
			return no("no members")
		}
	case "items":
		for i, e := range list {
			if refused := v.refuses(rule.(map[string]any), e, fmt.Sprintf("%s[%d]", at, i)); refused != "" {
				return refused
			}
		}
	case "required":
		for _, name := range rule.([]any) {
			if _, found := object[name.(string)]; isObject && !found {
				return no("no %v", name)
			}
		}
	case "dependencies":
		for name, needs := range rule.(map[string]any) {
			if _, found := object[name]; found {
				if refused := v.refuses(needs.(map[string]any), value, at); refused != "" {
					return refused
				}
			}
		}
	case "properties":
		for name, property := range rule.(map[string]any) {
			if member, found := object[name]; found {
				if refused := v.refuses(property.(map[string]any), member, at+"."+name); refused != "" {
					return refused
				}
			}
		}
	default:
		return v.applicator(schema, keyword, rule, value, at)
	}
	return ""
}

// applicator handles the keywords that combine other schemas.
func (v validator) applicator(schema map[string]any, keyword string, rule, value any, at string) string {
	object, _ := value.(map[string]any)
	switch keyword {
	case "additionalProperties":
		known, _ := schema["properties"].(map[string]any)
		more, _ := rule.(map[string]any)
		for name, member := range object {
			if known[name] != nil {
				continue
			}
			if more == nil {
				return at + ": unknown " + name
			}
			if refused := v.refuses(more, member, at+"."+name); refused != "" {
				return refused
			}
		}
	case "propertyNames":
		for name := range object {
			if refused := v.refuses(rule.(map[string]any), name, at+"."+name); refused != "" {
				return refused
			}
		}
	case "allOf", "anyOf":
		all := ""
		for _, one := range rule.([]any) {
			refused := v.refuses(one.(map[string]any), value, at)
			if keyword == "anyOf" && refused == "" {
				return ""
			}
			all += refused
		}
		return all
	case "not":
		if v.refuses(rule.(map[string]any), value, at) == "" {
			return at + ": not allowed together"
		}
	case "if":
		if v.refuses(rule.(map[string]any), value, at) == "" {
			return v.refuses(schema["then"].(map[string]any), value, at)
		}
		if otherwise, is := schema["else"].(map[string]any); is {
			return v.refuses(otherwise, value, at)
		}
	default:
		return at + ": the test does not know " + keyword
	}
	return ""
}

func hasType(rule, value any) bool {
	name := "null"
	switch value.(type) {
	case map[string]any:
		name = "object"
	case []any:
		name = "array"
	case string:
		name = "string"
	case bool:
		name = "boolean"
	case json.Number:
		name = "number"
	}
	names, ok := rule.([]any)
	if !ok {
		return rule == name
	}
	return slices.Contains(names, any(name))
}
