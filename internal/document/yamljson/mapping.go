package yamljson

import (
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A Member is a member of a mapping.
type Member struct {
	Name       string
	Key, Value *yaml.Node
}

// maxMerges limits how deep mappings merge each other, and so also ends a cycle.
const maxMerges = 32

// Members returns the members of a mapping, or of the mapping of an alias, in order; other nodes
// have none. Members from a merge key (<<) are at its place. The mapping's own keys win over them,
// and earlier merges over later ones. The error is an *Error.
func Members(n *yaml.Node) ([]Member, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	return membersOf(n, 0)
}

func membersOf(n *yaml.Node, merges int) ([]Member, error) {
	if err := checkTag(n, "!!map"); err != nil {
		return nil, err
	}
	own, err := ownNames(n)
	if err != nil {
		return nil, err
	}
	var all []Member
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !isMerge(key) {
			name, _ := keyName(key) // ownNames has checked it
			all = append(all, Member{name, key, value})
			continue
		}
		merged, err := mergedMembers(value, merges)
		if err != nil {
			return nil, err
		}
		for _, m := range merged {
			taken := func(other Member) bool { return other.Name == m.Name }
			if own[m.Name] == nil && !slices.ContainsFunc(all, taken) {
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// ownNames returns the keys of a mapping, without merge keys, and fails for duplicates.
func ownNames(n *yaml.Node) (map[string]*yaml.Node, error) {
	own := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if isMerge(key) {
			continue
		}
		name, err := keyName(key)
		if err != nil {
			return nil, err
		}
		if first := own[name]; first != nil {
			return nil, fail(key, "duplicate key, remove one, the other is in line %d: %s", first.Line, name)
		}
		own[name] = key
	}
	return own, nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Style == 0 && key.Value == "<<"
}

// mergedMembers returns the members from a merge key's value: a mapping or a list of mappings.
func mergedMembers(value *yaml.Node, merges int) ([]Member, error) {
	if merges == maxMerges {
		return nil, fail(value, "mappings are merged into each other too often, write them out: <<")
	}
	target := value
	if target.Kind == yaml.AliasNode {
		target = target.Alias
	}
	if target.Kind == yaml.MappingNode {
		return membersOf(target, merges+1)
	}
	if target.Kind == yaml.SequenceNode {
		var all []Member
		for _, item := range target.Content {
			members, err := mergedMembers(item, merges+1)
			if err != nil {
				return nil, err
			}
			all = append(all, members...)
		}
		return all, nil
	}
	return nil, fail(value, "not a mapping to merge, write one: <<")
}

// wholeNumber is an integer that fits an int64 and is spelt as JSON does.
var wholeNumber = regexp.MustCompile(`^(0|-?[1-9]\d{0,17})$`)

// keyName returns the key as JSON has it. kubectl turns booleans and numbers into strings; here
// only whole numbers are accepted, since others would change their spelling.
func keyName(key *yaml.Node) (string, error) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", fail(key, "a key is not a word, write KEY: VALUE")
	}
	if kind := kindOf(key); kind == stringScalar || kind == intScalar && wholeNumber.MatchString(key.Value) {
		return key.Value, nil
	}
	return "", fail(key, "a key that may be taken for something else than a word, put it in quotes: %s", key.Value)
}
