package reference

import (
	"bytes"
	"fmt"
	"maps"

	yamlv3 "go.yaml.in/yaml/v3"
)

// A ruleText is a rule as it is written.
type ruleText map[string]yamlv3.Node

func (t ruleText) get(key string) string { return t[key].Value }

type file struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Hub      string
		RuleSets map[string][]ruleText `yaml:"ruleSets"`
		Versions []struct {
			Name   string
			SameAs string `yaml:"sameAs"`
			Rules  []ruleText
		}
	}
	RuleSets map[string][]ruleText `yaml:"ruleSets"`
}

// readFiles returns the Conversion in texts of YAML, and the rule sets by the names that it uses.
func readFiles(texts ...[]byte) (*file, map[string][]ruleText, error) {
	var conversion *file
	sets := map[string][]ruleText{}
	for _, text := range texts {
		for dec := yamlv3.NewDecoder(bytes.NewReader(text)); ; {
			var f file
			if dec.Decode(&f) != nil {
				break
			}
			if f.Kind == "Conversion" {
				conversion = &f
			}
			maps.Copy(sets, f.Spec.RuleSets)
			for name, set := range f.RuleSets {
				for _, r := range set {
					if use := r["use"]; f.RuleSets[use.Value] != nil {
						use.Value = f.Metadata.Name + "/" + use.Value
						r["use"] = use
					}
				}
				sets[f.Metadata.Name+"/"+name] = set
			}
		}
	}
	if conversion == nil {
		return nil, nil, fmt.Errorf("no Conversion")
	}
	return conversion, sets, nil
}

// places returns the places of one side by name; a list is that of several rules.
func places(n yamlv3.Node) (all []map[string]path) {
	for _, c := range n.Content {
		if n.Kind == yamlv3.SequenceNode {
			all = append(all, map[string]path{"": parsePath(c.Value)})
		}
	}
	if len(all) > 0 {
		return all
	}
	named := map[string]path{}
	for i, name := range names(n) {
		switch n.Kind { //nolint:exhaustive // rules have no others
		case yamlv3.ScalarNode:
			named[name] = parsePath(n.Value)
		case yamlv3.MappingNode:
			named[name] = parsePath(n.Content[2*i+1].Value)
		}
	}
	return []map[string]path{named}
}

// names returns the names of places in the order of the file; one place has none.
func names(n yamlv3.Node) (all []string) {
	if n.Kind != yamlv3.MappingNode {
		return []string{""}
	}
	for i := 0; i < len(n.Content); i += 2 {
		all = append(all, n.Content[i].Value)
	}
	return all
}

// yamlValue returns a value as JSON has it.
func yamlValue(n yamlv3.Node) any {
	var v any
	if n.Kind == 0 || n.Decode(&v) != nil {
		return nil
	}
	return normal(v)
}

// normal returns a value as JSON has it; integers are int64.
func normal(v any) any { return parseJSON([]byte(toJSON(v))) }

// A table of values, in order.
type table struct{ from, to []any }

func yamlTable(n yamlv3.Node) (t table) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		t.from, t.to = append(t.from, yamlValue(*n.Content[i])), append(t.to, yamlValue(*n.Content[i+1]))
	}
	return t
}
