package yamledit

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

type kind int

const (
	scalar kind = iota
	mapping
	sequence
)

// A node is a value, with the range of its text if it is in a file.
type node struct {
	kind    kind
	raw     string // JSON of a scalar
	entries []*entry

	start, end int // of the text
	flow       bool
	quote      byte   // ' or " or | or > of a scalar, or 0
	fixed      string // why it must not change: an alias

	plan  *plan
	canon string
}

// An entry is a member of a mapping or an element of a sequence.
type entry struct {
	name  string // of a member
	path  string
	value *node

	start  int // of the key, the dash, or the element of a flow sequence
	keyEnd int
	after  int  // behind the colon or the dash
	merged bool // comes from a merge key
	item   bool // of a sequence

	source *entry // of a new entry: the old one whose text it takes
	parent *entry

	// Of an old entry.
	keyStays bool // only its value is replaced
	offered  bool // as a source
	used     bool // as a source
	partly   bool // something below it is used
}

// empty reports whether the value of an entry has no text.
func (e *entry) empty() bool { return e.value.start == e.value.end }

// end is the end of the text of an entry.
func (e *entry) end() int { return max(e.after, e.value.end) }

// canonical returns a text that equal values have in common.
func (n *node) canonical() string {
	if n.canon != "" {
		return n.canon
	}
	switch n.kind {
	case scalar:
		n.canon = n.raw
	case sequence:
		parts := make([]string, len(n.entries))
		for i, e := range n.entries {
			parts[i] = e.value.canonical()
		}
		n.canon = "[" + strings.Join(parts, ",") + "]"
	case mapping:
		last := make(map[string]string, len(n.entries)) // the last of several counts
		for _, e := range n.entries {
			last[e.name] = strconv.Quote(e.name) + ":" + e.value.canonical()
		}
		parts := make([]string, 0, len(last))
		for _, part := range last {
			parts = append(parts, part)
		}
		slices.Sort(parts)
		n.canon = "{" + strings.Join(parts, ",") + "}"
	}
	return n.canon
}

// trivial reports whether a value is too common to tell where it came from.
func (n *node) trivial() bool {
	return len(n.entries) == 0 && (n.kind != scalar || len(n.raw) < 4 || n.raw == "true" || n.raw == "false" || n.raw == "null")
}

// get returns the member of a name, or nil.
func (n *node) get(name string) *entry {
	for _, e := range n.entries {
		if e.name == name {
			return e
		}
	}
	return nil
}

// setPaths writes the path of each entry, and links it to its parent.
func (n *node) setPaths(path string) { n.link(path, nil) }

func (n *node) link(path string, parent *entry) {
	for i, e := range n.entries {
		e.parent, e.item = parent, n.kind == sequence
		if n.kind == sequence {
			e.path = path + "[" + strconv.Itoa(i) + "]"
		} else {
			segment := jsondoc.FormatPath(e.name)
			if path != "" && strings.HasPrefix(segment, ".[") {
				segment = segment[1:]
			}
			e.path = path + segment
		}
		e.value.link(e.path, e)
	}
}

// str returns the text of a string.
func (n *node) str() (string, bool) {
	if n.kind != scalar || !strings.HasPrefix(n.raw, `"`) {
		return "", false
	}
	var s string
	err := json.Unmarshal([]byte(n.raw), &s)
	return s, err == nil
}

// leaves counts the scalars of a value by their text.
func (n *node) leaves(counts map[string]int, by int) {
	if n.kind == scalar {
		counts[n.raw] += by
	}
	for _, e := range n.entries {
		e.value.leaves(counts, by)
	}
}

// similar reports whether two collections of a kind share at least half of their scalars.
func similar(a, b *node) bool {
	if a.kind != b.kind || a.kind == scalar || len(a.entries) == 0 || len(b.entries) == 0 {
		return false
	}
	left, right := map[string]int{}, map[string]int{}
	a.leaves(left, 1)
	b.leaves(right, 1)
	total, shared := 0, 0
	for text, n := range left {
		total += n
		shared += min(n, right[text])
	}
	for _, n := range right {
		total += n
	}
	return shared*4 >= total && shared > 0
}
