package annotation

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Mark says by which rules an object was converted, while replicas with other rules convert the
// same object. It is an entry for a place that nothing restores, since conversions give an object
// its kind. So replicas remove it like any other entry, whatever their rules are.
type Mark struct {
	// Rules identify the rules, and For others. The other entries of the object are for replicas
	// with those. Without For they are for all.
	Rules, For string
	// Kept are the entries for all other replicas.
	Kept []*Entry
}

// SameEntries reports whether annotations store two lists of entries in the same way.
func SameEntries(a, b []*Entry) bool {
	return bytes.Equal(appendEntries(nil, a, 0), appendEntries(nil, b, 0))
}

// Entries returns the mark together with the entries for replicas with the other rules, or Kept for
// all replicas if both together are too large.
func (k Mark) Entries(others []*Entry) []*Entry {
	text := jsondoc.AppendString([]byte(`{"rules":`), k.Rules)
	kept, theirs := appendEntries(nil, k.Kept, 0), appendEntries(nil, others, 0)
	if k.For == "" || len(kept)+len(theirs) > maxTotal/2 {
		others = k.Kept
	} else {
		text = jsondoc.AppendString(append(text, `,"for":`...), k.For)
		text = append(append(text, `,"kept":`...), kept...)
	}
	return append(slices.Clip(others), &Entry{Path: Path{{Name: markName}}, Value: append(text, '}')})
}

const markName = "kind"

func (e *Entry) isMark() bool { return len(e.Path) == 1 && e.Path[0].Name == markName }

// For returns the entries of an object for a replica with some rules. The entries are valid until
// the memory is reset.
func (r *Memory) For(rules string, kept []*Entry) []*Entry {
	for i, e := range kept {
		if !e.isMark() {
			continue
		}
		if mark, ok := r.mark(e.Value); ok && mark.For != "" && mark.For != rules {
			return mark.Kept
		}
		return append(kept[:i:i], kept[i+1:]...)
	}
	return kept
}

// describeMark says what a mark says, and whether the entry is one.
func (e *Entry) describeMark() (line string, is bool) {
	if !e.isMark() {
		return "", false
	}
	k, ok := new(Memory).mark(e.Value)
	return "converted by the rules " + k.Rules, ok
}

// mark reads the value of a mark.
func (r *Memory) mark(text []byte) (k Mark, ok bool) {
	if r.text = string(text); r.scan.Reset(text, jsondoc.MaxDepth) != nil || r.scan.Kind() != jsondoc.Map {
		return k, false
	}
	err := r.scan.Members(func(name []byte) (err error) {
		switch string(name) {
		case "rules":
			k.Rules, err = r.str()
		case "for":
			k.For, err = r.str()
		case "kept":
			k.Kept, err = r.all(0)
		default:
			err = errFormat
		}
		return err
	})
	for _, e := range k.Kept {
		if err == nil && !e.verify() {
			err = errFormat
		}
	}
	return k, err == nil && r.scan.End() == nil
}

// MarkOf returns the mark of an object that was converted from a version, or an empty one.
func MarkOf(obj *jsondoc.Object, version string) Mark {
	text, obscured, err := obj.NestedText("metadata", "annotations")
	if err != nil || !MayBeIn(text, obscured) {
		return Mark{}
	}
	name, _ := Name(label(version), Path{{Name: markName}})
	n, err := obj.Get("metadata", "annotations", name)
	if err != nil || n.Kind() != jsondoc.String {
		return Mark{}
	}
	r := new(Memory)
	entries, ok := r.annotation(nil, name, label(version), n.Text())
	if !ok || len(entries) != 1 {
		return Mark{}
	}
	if k, ok := r.mark(entries[0].Value); ok {
		return k
	}
	return Mark{}
}
