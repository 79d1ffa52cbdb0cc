package config

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
)

// Setting is one key with its value in text form.
type Setting struct {
	Key    Key
	Text   string
	List   []string // of a [Names] key, in place of Text
	Origin Origin
}

// Effective is the whole configuration, in the order of [Keys]. It holds no secret, since no [Kind]
// takes one.
type Effective []Setting

// Effective returns every key with its value and where that comes from.
func (l Loaded) Effective() Effective {
	values := l.Config.values()
	all := make(Effective, 0, len(values))
	for _, k := range Keys() {
		text, list := render(values[k.Name])
		all = append(all, Setting{Key: k, Text: text, List: list, Origin: l.Origins[k.Name]})
	}
	return all
}

// WriteText writes a table of key, value and origin.
func (e Effective) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) // writes nothing before Flush
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN")
	for _, s := range e {
		value := cmp.Or(s.Text+strings.Join(s.List, ","), "-")
		fmt.Fprintf(tw, "%s\t%s\t%s\n", s.Key.Name, printable(value), s.Origin)
	}
	return tw.Flush()
}

// WriteYAML writes a file that --config takes, with the origin of each value as a comment.
func (e Effective) WriteYAML(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range e {
		root.Content = append(root.Content, scalar(s.Key.Name), s.node())
	}
	enc := yaml.NewEncoder(w)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return enc.Close()
}

// node returns the value in the spelling that its kind has in YAML.
func (s Setting) node() *yaml.Node {
	n := scalar(s.Text)
	switch s.Key.Kind {
	case Bool:
		n.Tag = "" // with a tag it would be quoted
	case Names:
		n = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range s.List {
			n.Content = append(n.Content, scalar(item))
		}
	default:
	}
	n.LineComment = s.Origin.String()
	return n
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}
