package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// MaxFile is the largest configuration file that is read, in bytes.
const MaxFile = 1 << 20

// maxProblems bounds what is reported about one file.
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

// unreadable rewrites an error of package os: the path, the cause, what to do.
func unreadable(name string, err error) error {
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
	return fmt.Errorf("%s: %w: %s", name, failed.Err, remedy)
}

// fromFile reads the file called name, which origin named. Every key is bad if nothing of the file
// could be used.
func fromFile(name string, origin Origin, readFile func(string) ([]byte, error), p *problems) layer {
	l := layer{}
	if name == "" {
		return l
	}
	here := Origin{Source: FromFile, Name: name}
	root := &yaml.Node{}
	text, err := readFile(name)
	if err != nil {
		p.add(fileKey().Name, origin, unreadable(name, err))
	} else if root, here.Line, err = parseYAML(text); err != nil {
		p.add("", here, err)
	}
	if err != nil {
		for _, k := range Keys() {
			p.bad[k.Name] = true
		}
		return l
	}
	seen := map[string]int{} // lines of keys
	for i := 0; i+1 < len(root.Content); i += 2 {
		l.addNode(name, root.Content[i], root.Content[i+1], seen, p)
		if len(p.all) == maxProblems {
			p.add("", here, errors.New("may have more problems: fix these first"))
			break
		}
	}
	return l
}

var (
	tabIndent = regexp.MustCompile(`(?m)^ *\t`)
	yamlError = regexp.MustCompile(`(?s)^(?:yaml: )?(?:line (\d+): )?(.*)$`)
)

// parseYAML returns the mapping at the root of the only document, or an error and its line.
func parseYAML(text []byte) (root *yaml.Node, line int, err error) {
	if len(text) > MaxFile {
		return nil, 0, errors.New("larger than 1 MiB: remove everything that is not configuration")
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		parts := yamlError.FindStringSubmatch(err.Error())
		line, _ := strconv.Atoi(parts[1])
		problem := "not YAML: " + parts[2]
		if strings.Contains(problem, "cannot start any token") && tabIndent.Match(text) {
			problem += ": indent with spaces, not tabs"
		}
		return nil, line, errors.New(problem)
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, 0, errors.New("more than one YAML document: keep one")
	}
	if len(doc.Content) == 0 {
		return &doc, 0, nil
	}
	root = doc.Content[0]
	if n := findAlias(root); n != nil {
		return nil, n.Line, errors.New("anchors and aliases are not supported: write the value itself")
	}
	if root.Kind != yaml.MappingNode && (root.Kind != yaml.ScalarNode || root.ShortTag() != "!!null") {
		return nil, root.Line, errors.New("not a list of settings: write lines of KEY: VALUE")
	}
	return root, 0, nil
}

// findAlias returns the first node that is an alias or has an anchor. The YAML parser bounds the
// depth of nodes.
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
func (l layer) addNode(file string, key, value *yaml.Node, seen map[string]int, p *problems) {
	origin := Origin{FromFile, file, key.Line}
	if key.Kind != yaml.ScalarNode {
		p.add("", origin, errors.New("a key is not a word: write lines of KEY: VALUE"))
		return
	}
	keys := Keys()
	at := slices.Index(namesOf(keys), key.Value)
	if at < 0 {
		p.addUnknown(origin, key.Value)
		return
	}
	k, before := keys[at], seen[key.Value]
	text, list, ok := nodeValue(value, k.Kind == Names)
	switch {
	case before > 0:
		p.add(k.Name, origin, fmt.Errorf("repeated: remove one, the other is in line %d", before))
	case ok:
		l.add(k, text, list, origin, p)
	case k.Kind == Names:
		p.add(k.Name, origin, errors.New("not a list of names: write it as [NAME, NAME]"))
	default:
		p.add(k.Name, origin, errors.New("not a single value: write one "+k.Kind.text().noun))
	}
	seen[k.Name] = cmp.Or(before, key.Line)
}

// nodeValue returns a scalar as it was written, or a list of them: 1.3 stays 1.3, not a number.
func nodeValue(n *yaml.Node, isList bool) (text string, list []string, ok bool) {
	ok = n.Style&yaml.TaggedStyle == 0
	if !isList {
		return n.Value, nil, ok && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!null"
	}
	list, ok = []string{}, ok && n.Kind == yaml.SequenceNode
	for _, item := range n.Content {
		text, _, isText := nodeValue(item, false)
		list, ok = append(list, text), ok && isText
	}
	return "", list, ok
}

func namesOf(keys []Key) []string {
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

// addUnknown also marks the key that was probably meant.
func (p *problems) addUnknown(o Origin, name string) {
	near, ok := didyoumean.Nearest(name, namesOf(Keys()))
	switch {
	case name == fileKey().Name:
		p.add("", o, errors.New(`unknown key "config": a file cannot name another, use the flag --config`))
	case ok:
		p.add("", o, fmt.Errorf("unknown key %.64q: did you mean %q?", name, near))
		p.bad[near] = true
	default:
		p.add("", o, fmt.Errorf("unknown key %.64q: the keys are listed in docs/reference/configuration.md", name))
	}
}
