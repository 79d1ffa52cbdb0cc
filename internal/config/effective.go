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
	var all Effective
	for _, k := range Keys() {
		text, list := render(values[k.Name])
		all = append(all, Setting{Key: k, Text: text, List: list, Origin: l.Origins[k.Name]})
	}
	return all
}

// WriteText writes a table of key, value and origin.
func (e Effective) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString("KEY\tVALUE\tORIGIN\n")
	for _, s := range e {
		value := cmp.Or(s.Text+strings.Join(s.List, ","), "-")
		fmt.Fprintf(&b, "%s\t%s\t%s\n", s.Key.Name, printable(value), s.Origin)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tw, b.String()); err != nil {
		return err
	}
	return tw.Flush()
}

// WriteYAML writes a file that --config takes, with the origin of each value as a comment.
func (e Effective) WriteYAML(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, s := range e {
		root.Content = append(root.Content, scalar("!!str", s.Key.Name), s.node())
	}
	enc := yaml.NewEncoder(w)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return enc.Close()
}

// node returns the value in the spelling that its kind has in YAML.
func (s Setting) node() *yaml.Node {
	n := scalar("!!str", s.Text)
	switch s.Key.Kind {
	case Bool:
		n.Tag = "!!bool"
	case Count, Percent:
		n.Tag = "!!int"
	case Names:
		n = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range s.List {
			n.Content = append(n.Content, scalar("!!str", item))
		}
	default:
	}
	n.LineComment = s.Origin.String()
	return n
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}
