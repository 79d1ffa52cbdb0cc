package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"sort"

	yamlv3 "go.yaml.in/yaml/v3"
)

// The file as it is written.
type file struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Hub      string
		RuleSets map[string][]ruleText `yaml:"ruleSets"`
		Versions []versionText
	}
	RuleSets map[string][]ruleText `yaml:"ruleSets"`
}

type versionText struct {
	Name   string
	SameAs string `yaml:"sameAs"`
	Rules  []ruleText
}

type ruleText struct {
	Spoke, Hub, Values yamlv3.Node
	HubValues          yamlv3.Node `yaml:"hubValues"`
	Template, Codec    string
	ToHub              string `yaml:"toHub"`
	ToSpoke            string `yaml:"toSpoke"`
	Absent             *string
	WhenToHub          string      `yaml:"whenToHub"`
	WhenToSpoke        string      `yaml:"whenToSpoke"`
	DefaultInHub       yamlv3.Node `yaml:"defaultInHub"`
	DefaultInSpoke     yamlv3.Node `yaml:"defaultInSpoke"`
	DefaultFrom        string      `yaml:"defaultFrom"`
	OmitEmpty          string      `yaml:"omitEmpty"`
	Use, Go, Drop      string
	MayBeAbsent        string `yaml:"mayBeAbsent"`
	Transitional       bool
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
				sets[f.Metadata.Name+"/"+name] = qualified(f.Metadata.Name, f.RuleSets, set)
			}
		}
	}
	if conversion == nil {
		return nil, nil, fmt.Errorf("no Conversion")
	}
	return conversion, sets, nil
}

// qualified returns a set that names others of its document as everyone else does.
func qualified(name string, of map[string][]ruleText, set []ruleText) []ruleText {
	out := append([]ruleText{}, set...)
	for i := range out {
		if _, ok := of[out[i].Use]; ok {
			out[i].Use = name + "/" + out[i].Use
		}
	}
	return out
}

// places returns the places of one side: one without a name, several, or one for each of several
// rules.
func places(n yamlv3.Node) (named map[string]path, names []string, list []path, err error) {
	switch n.Kind { //nolint:exhaustive // rules have no others
	case yamlv3.ScalarNode:
		p, err := parsePath(n.Value)
		return map[string]path{"": p}, []string{""}, nil, err
	case yamlv3.SequenceNode:
		for _, c := range n.Content {
			p, err := parsePath(c.Value)
			if err != nil {
				return nil, nil, nil, err
			}
			list = append(list, p)
		}
	case yamlv3.MappingNode:
		named = map[string]path{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if named[n.Content[i].Value], err = parsePath(n.Content[i+1].Value); err != nil {
				return nil, nil, nil, err
			}
			names = append(names, n.Content[i].Value)
		}
	}
	return named, names, list, nil
}

// yamlValue returns a value as JSON has it; integers are int64.
func yamlValue(n *yamlv3.Node) any {
	var v any
	if n.Kind == 0 || n.Decode(&v) != nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return parseJSON(text)
}

// A table of values, in order.
type table struct{ from, to []any }

func yamlTable(n yamlv3.Node) (t table) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		t.from, t.to = append(t.from, yamlValue(n.Content[i])), append(t.to, yamlValue(n.Content[i+1]))
	}
	return t
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
