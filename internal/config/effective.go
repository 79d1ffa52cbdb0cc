package config

import (
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

// Effective is the whole configuration, in the order of [Keys]. It holds no secret, since no
// [Kind] takes one.
type Effective []Setting

// Effective returns every key with its value and where that comes from.
func (l Loaded) Effective() Effective {
	keys := Keys()
	all := make(Effective, 0, len(keys))
	for _, k := range keys {
		text, list := k.text(l.Config)
		all = append(all, Setting{Key: k, Text: text, List: list, Origin: l.Origins[k.Name]})
	}
	return all
}

// render returns a value in one line, a list with commas.
func (k Key) render(c Config) string {
	text, list := k.text(c)
	return text + strings.Join(list, ",")
}

// WriteText writes a table of key, value and origin.
func (e Effective) WriteText(w io.Writer) error {
	var b strings.Builder
	b.WriteString("KEY\tVALUE\tORIGIN\n")
	for _, s := range e {
		value := s.Text + strings.Join(s.List, ",")
		if value == "" {
			value = "-"
		}
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
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Key.Name}
		root.Content = append(root.Content, name, s.node())
	}
	enc := yaml.NewEncoder(w)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("writing the configuration as YAML: %w", err)
	}
	return enc.Close()
}

// node returns the value in the spelling that its kind has in YAML.
func (s Setting) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s.Text}
	switch s.Key.Kind {
	case Bool:
		n.Tag = "!!bool"
	case Count, Percent:
		n.Tag = "!!int"
	case Names:
		n = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range s.List {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: item})
		}
	case Address, URLPath, File, Choice, Duration, Size:
	}
	n.LineComment = s.Origin.String()
	return n
}
