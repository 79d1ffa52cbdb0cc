package annotation

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/slab"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Memory reads the entries of annotations, and holds entries, for one object after the other. It
// scans their text once, and makes no tree of it (BenchmarkKinds in converters/rules). Entries and
// paths are valid until Reset. The zero Memory is empty. It is not safe for concurrent use.
type Memory struct {
	entries slab.Slab[Entry]
	steps   slab.Slab[PathElement]
	scan    jsondoc.Scanner
	text    string // of the annotation
	bytes   []byte // of all annotations
	said    Path   // while it is read
	scratch []byte
}

// Reset drops everything, and keeps some memory for the next object.
func (r *Memory) Reset() {
	r.entries.Reset()
	r.steps.Reset()
	_ = r.scan.Reset(nil, 0)
	clear(r.said[:cap(r.said)])
	if r.text, r.bytes = "", r.bytes[:0]; cap(r.bytes) > keptBytes {
		r.bytes = nil
	}
}

// NewEntry returns a copy of an entry.
func (r *Memory) NewEntry(e Entry) *Entry { return r.entries.Add(e) }

// NewPath returns a copy of a path.
func (r *Memory) NewPath(p Path) Path { return append(r.steps.Room(len(p)), p...) }

// keptBytes limits the text that a memory keeps for the next object.
const keptBytes = 1 << 16

// errFormat says that an annotation has another format.
var errFormat = errors.New("unknown format")

// annotation appends the entries of an annotation with a literal as its value to all, and reports
// whether it has this format.
func (r *Memory) annotation(all []*Entry, name, of string, literal []byte) ([]*Entry, bool) {
	if len(name) > len(StatusPrefix)+maxName {
		return all, false
	}
	from := len(r.bytes)
	r.bytes = jsondoc.AppendUnquoted(r.bytes, literal)
	text := r.bytes[from:len(r.bytes):len(r.bytes)]
	if r.text = string(text); r.scan.Reset(text, jsondoc.MaxDepth) != nil {
		return all, false
	}
	whole := entryReader{Entry: r.NewEntry(Entry{}), around: -1}
	var entries []*Entry
	grouped := false
	err := r.scan.Members(func(member []byte) (err error) {
		switch {
		case string(member) != "parts":
			return r.member(&whole, member, 0)
		case r.scan.Kind() != jsondoc.Array:
			return errFormat
		}
		grouped = true
		entries, err = r.all(0)
		return err
	})
	if err != nil || r.scan.End() != nil {
		return all, false
	}
	path, ok := r.pathOf(name, of, whole.Path, whole.hasPath)
	switch {
	case !ok:
		return all, false
	case grouped:
		for _, e := range entries {
			if e.Path = slices.Concat(path, e.Path); !e.verify() {
				return all, false
			}
		}
		return append(all, entries...), true
	}
	whole.Path = path
	if !whole.finish() || !whole.verify() {
		return all, false
	}
	return append(all, whole.Entry), true
}

// pathOf returns the path of an annotation, which it says or else is its name. The name must be the
// one that webhookd gives to that path.
func (r *Memory) pathOf(name, of string, said Path, says bool) (Path, bool) {
	path := said
	if !says {
		_, rest, _ := splitName(name)
		r.said = r.said[:0]
		for word := range strings.SplitSeq(rest, ".") {
			r.said = append(r.said, PathElement{Name: word})
		}
		path = r.NewPath(r.said)
	}
	named, simple := appendName(r.scratch[:0], of, path)
	r.scratch = named[:0]
	return path, len(path) > 0 && string(named) == name && simple == !says
}

// An entryReader is an entry that is being read.
type entryReader struct {
	*Entry

	kinds, around int
	hasPath       bool
}

// finish checks that an entry has one kind.
func (e *entryReader) finish() bool {
	e.Around = e.around
	return e.kinds == 1
}

// verify checks an entry that has its whole path.
func (e *Entry) verify() bool {
	if e.Around < 0 {
		e.Around = UsualAround(e.Path)
	}
	return e.Around <= len(e.Path) && len(e.Path) <= MaxSteps
}

// all reads a list of entries, with the path that each says.
func (r *Memory) all(within int) (all []*Entry, err error) {
	err = r.scan.Elements(func() error {
		e := entryReader{Entry: r.NewEntry(Entry{}), around: -1}
		err := r.scan.Members(func(member []byte) error { return r.member(&e, member, within) })
		if err == nil && (!e.finish() || !e.hasPath) {
			err = errFormat
		}
		all = append(all, e.Entry)
		return err
	})
	return all, err
}

// member reads a member of an entry, which is within so many lists without keys.
func (r *Memory) member(e *entryReader, name []byte, within int) (err error) {
	switch string(name) {
	case "value":
		e.Kind = KindValue
		e.Value, err = r.raw()
		e.kinds++
	case "absent":
		e.Kind = KindAbsent
		err = r.literally("true")
		e.kinds++
	case "list":
		e.Kind = KindList
		e.List, err = r.list(within)
		e.kinds++
	case "order":
		e.Kind = KindOrder
		e.Order, err = r.order()
		e.kinds++
	case "added":
		e.Added, err = r.added()
	case "inputs":
		e.Inputs, err = r.digest()
	case "object":
		e.Object, err = r.digest()
	case "in":
		if e.around, err = r.int(); e.around < 0 {
			err = errFormat
		}
	case "path":
		e.Path, err = r.readPath()
		e.hasPath = true
	default:
		err = errFormat
	}
	return err
}

// raw reads the text of a value.
func (r *Memory) raw() ([]byte, error) {
	at, err := r.scan.Skip()
	return r.scan.Text(at), err
}

func (r *Memory) literally(text string) error {
	if raw, err := r.raw(); err != nil || string(raw) != text {
		return errFormat
	}
	return nil
}

func (r *Memory) int() (int, error) {
	raw, err := r.raw()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(raw))
}

// str reads a string, which is usually part of the text.
func (r *Memory) str() (string, error) {
	if r.scan.Kind() != jsondoc.String {
		return "", errFormat
	}
	at, err := r.scan.Skip()
	if err != nil {
		return "", err
	}
	if text := r.text[at.Start+1 : at.End-1]; strings.IndexByte(text, '\\') < 0 {
		return text, nil
	}
	return jsondoc.Unquote(r.scan.Text(at)), nil
}

func (r *Memory) readPath() (Path, error) {
	r.said = r.said[:0]
	err := r.scan.Elements(func() (err error) {
		s := PathElement{}
		if r.scan.Kind() == jsondoc.String {
			s.Name, err = r.str()
		} else {
			s.Keys, err = r.keys()
		}
		if r.said = append(r.said, s); err == nil && len(r.said) > MaxSteps {
			err = errFormat
		}
		return err
	})
	return r.NewPath(r.said), err
}

func (r *Memory) keys() ([]Key, error) {
	var keys []Key
	err := r.scan.Members(func(name []byte) error {
		text, err := r.key()
		if keys = append(keys, Key{string(name), text}); err == nil && len(keys) > MaxKeys {
			err = errFormat
		}
		return err
	})
	if err == nil && len(keys) == 0 {
		err = errFormat
	}
	return keys, err
}

// key reads the value of a key field as canonical JSON, which it usually is.
func (r *Memory) key() (string, error) {
	kind := r.scan.Kind()
	at, err := r.scan.Skip()
	if err != nil {
		return "", err
	}
	text := r.text[at.Start:at.End]
	switch kind {
	case jsondoc.String:
		if strings.IndexByte(text, '\\') >= 0 {
			text = string(jsondoc.AppendString(nil, jsondoc.Unquote([]byte(text))))
		}
		return text, nil
	case jsondoc.Number:
		return jsondoc.CanonicalNumber(text)
	case jsondoc.Bool:
		return text, nil
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Array, jsondoc.Map:
	}
	return "", errFormat
}

func (r *Memory) order() (order [][]Key, err error) {
	err = r.scan.Elements(func() error {
		keys, err := r.keys()
		order = append(order, keys)
		return err
	})
	if err == nil && len(order) == 0 {
		err = errFormat
	}
	return order, err
}

// added reads elements that no key or digest identifies.
func (r *Memory) added() (all []Added, err error) {
	err = r.scan.Elements(func() error {
		x, members := Added{}, 0
		err := r.scan.Members(func(name []byte) (err error) {
			members++
			switch string(name) {
			case "after":
				x.After, err = r.int()
			case "value":
				x.Value, err = r.raw()
			default:
				err = errFormat
			}
			return err
		})
		if all = append(all, x); err == nil && members != 2 {
			err = errFormat
		}
		return err
	})
	return all, err
}

// list reads what is kept of a list without keys.
func (r *Memory) list(within int) (*ListEntry, error) {
	if within >= MaxNested {
		return nil, errFormat
	}
	l := &ListEntry{}
	err := r.scan.Members(func(name []byte) (err error) {
		switch string(name) {
		case "length":
			l.Length, err = r.int()
		case "elements":
			err = r.scan.Members(func(name []byte) error { return r.element(l, name, within+1) })
		case "added":
			l.Added, err = r.added()
		default:
			err = errFormat
		}
		return err
	})
	if err == nil && (l.Length < 0 || l.Length > MaxElements) {
		err = errFormat
	}
	return l, err
}

// element reads what is kept of an element. They are in the order of their indexes.
func (r *Memory) element(l *ListEntry, name []byte, within int) error {
	index, err := strconv.Atoi(string(name))
	if last := len(l.Elements) - 1; err != nil || index < 0 || index >= MaxElements || last >= 0 && index <= l.Elements[last].Index {
		return errFormat
	}
	e := &Element{Index: index}
	err = r.scan.Members(func(name []byte) (err error) {
		switch string(name) {
		case "was":
			e.Was, err = r.digest()
		case "kept":
			if e.Kept, err = r.all(within); err == nil && slices.ContainsFunc(e.Kept, func(e *Entry) bool { return !e.verify() }) {
				err = errFormat
			}
		case "alike":
			e.Alike, err = r.marks()
		default:
			err = errFormat
		}
		return err
	})
	if l.Elements = append(l.Elements, e); err == nil && !e.Was.Any {
		err = errFormat
	}
	return err
}

func (r *Memory) digest() (Digest, error) {
	text, err := r.str()
	if err != nil {
		return Digest{}, err
	}
	s, ok := parseDigest(text)
	if !ok || !s.Any {
		return s, errFormat
	}
	return s, nil
}

func (r *Memory) marks() ([]Leaf, error) {
	text, err := r.str()
	if err != nil || text == "" {
		return nil, err
	}
	all := make([]Leaf, 0, strings.Count(text, " ")+1)
	for word := range strings.SplitSeq(text, " ") {
		var m Leaf
		if n := copy(m[:], word); n < len(word) || n == 0 || !isPlain(word) {
			return nil, errFormat
		}
		all = append(all, m)
	}
	return all, nil
}
