package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// MaxFile is the largest configuration file that is read, in bytes.
const MaxFile = 1 << 20

// maxProblems bounds what is said about one file.
const maxProblems = 20

// ReadFile reads a file but stops after [MaxFile] bytes and one more, which [Load] reports. Its
// errors are those of package os.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

// unread writes the error of package os about the file called name as others are written: the cause, what to do, the path.
func unread(name string, err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	remedy := "name a file that webhookd can read"
	switch {
	case errors.Is(failed, fs.ErrNotExist):
		remedy = "write the file or leave config out"
	case errors.Is(failed, fs.ErrPermission):
		remedy = "give webhookd the right to read it"
	}
	return fmt.Errorf("%w, %s: %s", failed.Err, remedy, name)
}

// fromFile reads the text of the file called name.
func fromFile(name string, text []byte) (layer, []*Error) {
	root, problem := parseYAML(name, text)
	if problem != nil {
		return nil, []*Error{problem}
	}
	l := layer{}
	if root == nil {
		return l, nil
	}
	var problems []*Error
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		problems = append(problems, l.addNode(name, key, value, seen)...)
		if len(problems) == maxProblems {
			last := &Error{Origin: Origin{Source: FromFile, Name: name}, Text: "has more problems, perhaps: solve these first"}
			return l, append(problems, last)
		}
	}
	return l, problems
}

var tabIndent = regexp.MustCompile(`(?m)^ *\t`)

// parseYAML returns the mapping at the root of the only document, or nil when there is none.
func parseYAML(name string, text []byte) (*yaml.Node, *Error) {
	fail := func(line int, format string, args ...any) *Error {
		return &Error{Origin: Origin{Source: FromFile, Name: name, Line: line}, Text: fmt.Sprintf(format, args...)}
	}
	if len(text) > MaxFile {
		return nil, fail(0, "larger than 1 MiB: remove what is not configuration")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		line, problem := splitLine(strings.TrimPrefix(err.Error(), "yaml: "))
		if strings.Contains(problem, "cannot start any token") && tabIndent.Match(text) {
			problem += ": indent with spaces, not tabs"
		}
		return nil, fail(line, "not YAML: %s", problem)
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, fail(0, "more than one YAML document: keep one")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if n := findAlias(root); n != nil {
		return nil, fail(n.Line, "anchors and aliases are not supported: write the value itself")
	}
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, fail(root.Line, "not a list of settings: write lines of KEY: VALUE")
	}
	return root, nil
}

// splitLine takes the line number off an error of the YAML parser.
func splitLine(text string) (line int, rest string) {
	head, rest, ok := strings.Cut(text, ": ")
	if _, err := fmt.Sscanf(head, "line %d", &line); !ok || err != nil {
		return 0, text
	}
	return line, rest
}

// findAlias returns the first node that is an alias or has an anchor. The depth of nodes is
// bounded by the YAML parser.
func findAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return n
	}
	for _, c := range n.Content {
		if found := findAlias(c); found != nil {
			return found
		}
	}
	return nil
}

// addNode adds the value of one key; seen holds the line of each key that came before.
func (l layer) addNode(file string, key, value *yaml.Node, seen map[string]int) []*Error {
	origin := Origin{Source: FromFile, Name: file, Line: key.Line}
	fail := func(name, format string, args ...any) []*Error {
		return []*Error{{Key: name, Origin: origin, Text: fmt.Sprintf(format, args...)}}
	}
	if key.Kind != yaml.ScalarNode {
		return fail("", "a key is not a word: write lines of KEY: VALUE")
	}
	k, ok := findKey(key.Value)
	if !ok {
		return []*Error{unknownKey(origin, key.Value)}
	}
	if line, ok := seen[k.Name]; ok {
		return fail(k.Name, "repeated: remove one, the other is in line %d", line)
	}
	seen[k.Name] = key.Line
	if k.Kind == Names {
		names, ok := nodeList(value)
		if !ok {
			return fail(k.Name, "not a list of names: write it as [NAME, NAME]")
		}
		return l.add(k, entry{value: names, origin: origin})
	}
	text, ok := nodeText(value)
	if !ok {
		return fail(k.Name, "not a single value: write one %s", k.Kind.noun())
	}
	return l.add(k, entry{value: text, origin: origin})
}

func findKey(name string) (Key, bool) {
	for _, k := range Keys() {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

func namesOf(keys []Key) []string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

func unknownKey(o Origin, name string) *Error {
	p := &Error{Origin: o, Text: fmt.Sprintf("unknown key %.64q: the keys are listed in docs/reference/configuration.md", name)}
	if name == fileKey().Name {
		p.Text = `unknown key "config": a file cannot name another, use the flag --config`
	} else if near, ok := didyoumean.Nearest(name, namesOf(Keys())); ok {
		p.Text = fmt.Sprintf("unknown key %.64q: did you mean %q?", name, near)
		p.meant = near
	}
	return p
}

// nodeText returns a scalar as it was written: 1.3 stays 1.3 and is no number.
func nodeText(n *yaml.Node) (string, bool) {
	plain := n.Kind == yaml.ScalarNode && n.Style&yaml.TaggedStyle == 0 && n.ShortTag() != "!!null"
	return n.Value, plain
}

func nodeList(n *yaml.Node) ([]string, bool) {
	if n.Kind != yaml.SequenceNode || n.Style&yaml.TaggedStyle != 0 {
		return nil, false
	}
	list := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		text, ok := nodeText(item)
		if !ok {
			return nil, false
		}
		list = append(list, text)
	}
	return list, true
}
