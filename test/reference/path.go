package reference

import (
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// Steps of a path to elements and entries.
const (
	items = "[]" // also [name]
	each  = "{}" // also {name}
	first = "[0]"
)

// A step is .name, [], {}, [0] or [name=value]. The name of [] and {} is that of the key.
type step struct {
	text, name string
	value      any
}

type path []step

func dot(name string) step { return step{text: "." + name, name: name} }

func (s step) isField() bool { return s.text[0] == '.' }
func (s step) isPick() bool  { return s.text[0] == '[' && s.text != items }

// isEach reports whether a step leads to every element or entry.
func (s step) isEach() bool { return s.text == items || s.text == each }

func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		b.WriteString(s.text)
	}
	return b.String()
}

func (p path) with(s ...step) path { return append(slices.Clip(p), s...) }

func (p path) isIn(field string) bool { return len(p) > 0 && p[0].name == field }

// elements returns the places of the elements around the place, the outermost first.
func (p path) elements() (all []path) {
	for i, s := range p {
		if s.isEach() {
			all = append(all, p[:i+1])
		}
	}
	return all
}

// around returns the place of the innermost element around the place, or the object itself.
func (p path) around() path {
	if all := p.elements(); len(all) > 0 {
		return all[len(all)-1]
	}
	return p[:0]
}

// below reports whether a place is another one, or in it.
func below(place, other string) bool {
	return strings.HasPrefix(place, other) && (len(place) == len(other) || strings.ContainsRune(".[{", rune(place[len(other)])))
}

var stepPattern = regexp.MustCompile(`\.([\w-]+)|\["(.*?)"\]|\{(\w*)\}|\[(\d+)\]|\[([\w-]+)=(.*?)\]|\[([\w-]*)\]`)

func parsePath(text string) path {
	p := path{}
	for _, m := range stepPattern.FindAllStringSubmatch(text, -1) {
		switch {
		case m[1]+m[2] != "":
			p = append(p, dot(m[1]+m[2]))
		case m[0][0] == '{':
			p = append(p, step{text: each, name: m[3]})
		case m[4] != "":
			p = append(p, step{text: first})
		case m[5] != "":
			p = append(p, step{text: m[0], name: m[5], value: yamlValue(yamlv3.Node{Kind: yamlv3.ScalarNode, Value: m[6]})})
		default:
			p = append(p, step{text: items, name: m[7]})
		}
	}
	return p
}
