package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// A Value has a comment in values.yaml.
type Value struct {
	Section string
	Path    []string
	Default any
	Text    string
}

// Name returns the path with dots.
func (v Value) Name() string { return strings.Join(v.Path, ".") }

// Defaults returns the content of values.yaml.
func Defaults() (map[string]any, error) { return ReadValues(filepath.Join(Dir, "values.yaml")) }

// ReadValues reads a file of values.
func ReadValues(path string) (map[string]any, error) {
	text, err := os.ReadFile(path) //nolint:gosec // a file of the repository
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := yaml.UnmarshalStrict(text, &values); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return values, nil
}

// Documented returns the values that have comments, in the order of the file.
func Documented() ([]Value, error) {
	defaults, err := Defaults()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(Dir, "values.yaml"))
	if err != nil {
		return nil, err
	}
	return documented(string(text), defaults)
}

// documented returns the values with comments. The comment of a value is the lines directly above
// it.
func documented(text string, defaults map[string]any) ([]Value, error) {
	key := regexp.MustCompile(`^( *)([A-Za-z]+):`)
	var values []Value
	comment, path, section := make([]string, 0, 8), []string(nil), ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section, comment = strings.TrimPrefix(line, "## "), comment[:0]
		case strings.HasPrefix(trimmed, "#"):
			comment = append(comment, strings.TrimSpace(strings.TrimPrefix(trimmed, "#")))
		case trimmed == "":
			comment = comment[:0]
		default:
			match := key.FindStringSubmatch(line)
			if match == nil {
				return nil, fmt.Errorf("values.yaml: not a key: %s", line)
			}
			path = append(path[:len(match[1])/2:len(match[1])/2], match[2])
			if len(comment) > 0 {
				value, found := Get(defaults, path)
				if !found {
					return nil, fmt.Errorf("values.yaml: no such value: %s", strings.Join(path, "."))
				}
				values = append(values, Value{Section: section, Path: path, Default: value, Text: strings.Join(comment, " ")})
			}
			comment = comment[:0]
		}
	}
	return values, nil
}

// Get returns the value at a path.
func Get(values map[string]any, path []string) (any, bool) {
	var current any = values
	for _, key := range path {
		mapping, is := current.(map[string]any)
		if !is {
			return nil, false
		}
		if current, is = mapping[key]; !is {
			return nil, false
		}
	}
	return current, true
}
