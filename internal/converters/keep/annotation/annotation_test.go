package annotation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A maker makes random kept values, with a preference for odd ones.
type maker struct{ *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, 7))} } //nolint:gosec // a seed

func (m maker) pick(from ...string) string { return from[m.IntN(len(from))] }

// version returns a name that the API server accepts as a version: a DNS label.
func (m maker) version() string {
	if m.IntN(3) == 0 {
		return m.pick("v1", "v1beta1", "v2alpha10", "v1-2", "v1--x", "version-1", "a", strings.Repeat("v", 24), strings.Repeat("v", 25), strings.Repeat("v", 63))
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-----"
	name := make([]byte, 1+m.IntN(63))
	for i := range name {
		name[i] = letters[m.IntN(len(letters))]
	}
	name[0], name[len(name)-1] = letters[m.IntN(26)], letters[m.IntN(36)]
	return string(name)
}

// name returns any name of a member.
func (m maker) name() string {
	switch m.IntN(6) {
	case 0:
		return m.pick("", ".", "-", "--", "a--b", "a-", "-a", "a_b", "a.b", "a/b", "{}", "[]", `"`, `\`, "ключ", "\u2028", "é", "a b", "path", "\x00", "A", "a",
			"spec", "metadata", "conversion.webhookd.io/v1.spec", "1", strings.Repeat("x", 63), strings.Repeat("ö", 300))
	case 1:
		var name strings.Builder
		odd := []rune("ab09-_./~ \"\\\n{}[]öж漢🙂\ufffd\u0301")
		for range m.IntN(12) {
			name.WriteRune(odd[m.IntN(len(odd))])
		}
		return name.String()
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABC019-_"
	name := make([]byte, 1+m.IntN(9))
	for i := range name {
		name[i] = letters[m.IntN(len(letters))]
	}
	return string(name)
}

// Names returns the path of nested members.
func Names(names ...string) Path {
	path := make(Path, 0, len(names))
	for _, name := range names {
		path = append(path, PathElement{Name: name})
	}
	return path
}

func (m maker) path(most int) Path {
	path := Path{}
	if m.IntN(3) > 0 {
		path = Names(m.pick("spec", "status", "spec", "stat", "metadata", "ж", "-"))
	}
	for range m.IntN(most) {
		if m.IntN(4) == 0 {
			path = append(path, PathElement{Keys: m.keys()})
			continue
		}
		path = append(path, PathElement{Name: m.name()})
	}
	return path[:min(len(path), most)]
}

func (m maker) keys() []Key {
	var keys []Key
	for range 1 + m.IntN(3) {
		name := m.name()
		if !slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) {
			keys = append(keys, Key{name, m.pick(`"a"`, `"b"`, "1", "2.5", "true", string(jsondoc.StringValue(m.name()).Text()))})
		}
	}
	return keys
}

func (m maker) value() []byte {
	return []byte(m.pick(`null`, `true`, `1`, `-0.50`, `"x"`, `""`, `{}`, `[]`, `{ "a" : [1, {"b":null}] }`, "[\n1]", `"\u0041\"\\"`,
		string(jsondoc.StringValue(m.name()).Text())))
}

func (m maker) digest() Digest {
	s, _ := parseDigest(m.pick("a", "b", "0", "3w5e11264sgsf"))
	return s
}

// entry returns an entry for a path with lists nested up to depth.
func (m maker) entry(path Path, depth int) *Entry {
	e := &Entry{Path: path, Around: UsualAround(path)}
	if m.IntN(3) > 0 {
		e.Inputs = m.digest()
	}
	if m.IntN(8) == 0 {
		e.Object = m.digest()
	}
	if m.IntN(4) == 0 {
		e.Around = m.IntN(len(path) + 1)
	}
	switch m.IntN(8) {
	case 0, 1:
		e.Kind = KindAbsent
	case 2:
		if depth > 0 {
			e.Kind, e.List = KindList, m.list(depth-1)
			break
		}
		fallthrough
	case 3:
		e.Kind, e.Added = KindOrder, m.added()
		for range 1 + m.IntN(4) {
			e.Order = append(e.Order, m.keys())
		}
	default:
		e.Value = m.value()
	}
	return e
}

func (m maker) list(depth int) *ListEntry {
	l := &ListEntry{Length: m.IntN(6), Added: m.added()}
	for i := range l.Length {
		if m.IntN(2) == 0 {
			continue
		}
		e := &Element{Index: i, Was: m.digest()}
		for range m.IntN(3) {
			e.Kept = append(e.Kept, m.entry(m.path(4), depth))
		}
		if m.IntN(2) == 0 {
			e.Alike = []Leaf{{'a'}, {'b'}, LeafOf(m.Uint64())}
		}
		l.Elements = append(l.Elements, e)
	}
	return l
}

func (m maker) added() []Added {
	n := m.IntN(3)
	all := make([]Added, 0, n)
	for range n {
		all = append(all, Added{m.IntN(5) - 1, m.value()})
	}
	return all
}

// entries returns n entries with different paths or kinds; the path of a list may have an order and
// something else.
func (m maker) entries(n int) []*Entry {
	seen := map[string]bool{}
	var all []*Entry
	var shared Path
	for len(all) < n {
		if shared == nil || m.IntN(20) == 0 {
			shared = m.path(8)
		}
		path := slices.Concat(shared, m.path(5))
		if m.IntN(50) == 0 {
			path = slices.Concat(path, m.path(MaxSteps-len(path)))
		}
		e := m.entry(path, 2)
		if len(path) == 0 || seen[placeOf(e)] {
			continue
		}
		seen[placeOf(e)] = true
		all = append(all, e)
		if order := (&Entry{Path: path, Kind: KindOrder, Order: [][]Key{m.keys()}, Added: m.added(), Around: UsualAround(path)}); m.IntN(10) == 0 && !seen[placeOf(order)] {
			seen[placeOf(order)] = true
			all = append(all, order)
		}
	}
	return all
}

// The API server accepts the name of every annotation (otherwise it would refuse a whole list of
// objects), and no two paths or versions share a name.
func TestNamesOfAnnotationsAreValidAndDiffer(t *testing.T) {
	t.Parallel()
	paths := map[string]string{}
	for seed := range uint64(20_000) {
		m := newMaker(seed)
		version, path := m.version(), m.path(MaxSteps)
		if len(path) == 0 {
			continue
		}
		name, simple := Name(label(version), path)
		if problems := append(validation.IsQualifiedName(name), validation.IsQualifiedName(strings.ToLower(name))...); len(problems) > 0 {
			t.Fatalf("%s of %s %s: %v", name, version, path.AppendJSON(nil), problems)
		}
		is := version + " " + string(path.AppendJSON(nil))
		if was, found := paths[name]; found && was != is {
			t.Fatalf("%s is of %s and of %s", name, was, is)
		}
		paths[name] = is
		of, rest, found := strings.Cut(name[strings.IndexByte(name, '/')+1:], ".")
		if !found || of != label(version) {
			t.Fatalf("%s does not name the version %s", name, version)
		}
		if simple && !path.Equal(Names(strings.Split(rest, ".")...)) {
			t.Fatalf("%s does not say the path %s", name, path.AppendJSON(nil))
		}
		if other, _ := Name(label(version), Names(strings.Split(rest, ".")...)); !simple && other == name {
			t.Fatalf("%s is of two paths", name)
		}
		if own := path[0].Name == "status" && path[0].Keys == nil; strings.HasPrefix(name, StatusPrefix) != own || !IsOwn(name) {
			t.Fatalf("%s of %s", name, path.AppendJSON(nil))
		}
	}
}

// Take reads what Put writes: values, absences, lists and orders, alone and in groups.
func TestTakeReadsWhatPutWrites(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		m := newMaker(seed)
		versions := Versions{From: m.version(), To: m.version()}
		if versions.From == versions.To {
			continue
		}
		n := 1 + m.IntN(30)
		if seed%10 == 0 {
			n = MaxAnnotations - 5 + m.IntN(10)
		}
		if seed%50 == 0 {
			n = 600
		}
		want := m.entries(n)
		obj := parseTest(t, `{"metadata":{"name":"n","annotations":{"theirs":"x"}}}`)
		if err := Put(t.Context(), obj, versions.To, want); err != nil {
			t.Fatal(err)
		}
		holdAnnotations(t, obj, n)
		// As from the API server, in another order.
		obj = parseTest(t, respelt(t, obj.Text()))
		got, err := Take(obj, versions, &Memory{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(want, got); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
		if text := string(obj.Text()); text != `{"metadata":{"annotations":{"theirs":"x"},"name":"n"}}` {
			t.Fatalf("seed %d leaves %s", seed, text)
		}
	}
}

// difference compares entries in any order.
func difference(want, got []*Entry) string {
	byPlace := func(a, b *Entry) int { return strings.Compare(placeOf(a), placeOf(b)) }
	want, got = slices.SortedFunc(slices.Values(want), byPlace), slices.SortedFunc(slices.Values(got), byPlace)
	if bytes.Equal(appendEntries(nil, want, 0), appendEntries(nil, got, 0)) {
		return ""
	}
	return cmp.Diff(want, got,
		cmp.AllowUnexported(Entry{}, PathElement{}, ListEntry{}, Element{}, Added{}, Digest{}, Claim{}), cmpopts.EquateEmpty())
}

// placeOf returns a text that differs for all entries of a version.
func placeOf(e *Entry) string { return fmt.Sprint(string(e.Path.AppendJSON(nil)), e.Kind == KindOrder) }

// holdAnnotations fails for annotations that the API server refuses, and for too many for n values.
func holdAnnotations(t *testing.T, obj *jsondoc.Object, n int) {
	t.Helper()
	annotations, err := obj.Get("metadata", "annotations")
	if err != nil {
		t.Fatal(err)
	}
	count, first := 0, map[string]bool{}
	if err := annotations.Each(func(name string, value *jsondoc.Node) bool {
		if value.Kind() != jsondoc.String || len(validation.IsQualifiedName(name)) > 0 {
			t.Errorf("%s is not an annotation: %s", name, value.Text())
		}
		count++
		first[strings.SplitAfterN(name, ".", 3)[0]] = true
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if most := max(MaxAnnotations, min(n, 200)) + 20; count > most { // first steps of paths are never grouped
		t.Errorf("%d annotations for %d values", count, n)
	}
}

// respelt encodes an object as another encoder does.
func respelt(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func parseTest(tb testing.TB, text string) *jsondoc.Object {
	tb.Helper()
	obj, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		tb.Fatalf("%v: %.300s", err, text)
	}
	return obj
}

// FuzzAnnotations reads annotations that anyone could write. Reading them must not panic. Entries
// that were read must be written and read again unchanged.
func FuzzAnnotations(f *testing.F) {
	for seed := range uint64(40) {
		m := newMaker(seed)
		obj := parseTest(f, `{"metadata":{"annotations":{}}}`)
		if err := Put(f.Context(), obj, "v1", m.entries(1+m.IntN(6))); err != nil {
			f.Fatal(err)
		}
		annotations, _ := obj.Get("metadata", "annotations")
		if err := annotations.Each(func(name string, value *jsondoc.Node) bool {
			text, _ := value.Str()
			f.Add(name, text)
			return true
		}); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if of := nameOfText(text); of != "" {
			name = of
		}
		kept, taken := takeText(t, name, text)
		if Describe(name, text); len(kept) == 0 {
			return
		}
		if !taken {
			t.Fatalf("%s stays although it is read: %s", name, text)
		}
		again := parseTest(t, `{}`)
		if err := Put(t.Context(), again, "v1", kept); err != nil {
			return // too much
		}
		read, err := Take(again, Versions{From: "v2", To: "v1"}, &Memory{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := difference(kept, read); diff != "" && !repeats(kept) {
			t.Fatalf("%s %s is read otherwise once it is written (-first +second):\n%s", name, text, diff)
		}
	})
}

// nameOfText returns the name of an annotation whose text has its path, or "".
func nameOfText(text string) string {
	o, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		return ""
	}
	said, _ := o.Member("path")
	r := new(Memory)
	r.text = string(said.Text())
	if said == nil || r.scan.Reset(said.Text(), jsondoc.MaxDepth) != nil {
		return ""
	}
	path, err := r.readPath()
	if err != nil || len(path) == 0 {
		return ""
	}
	return named(path)
}

// repeats reports whether two entries are for the same place.
func repeats(kept []*Entry) bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(kept, func(e *Entry) bool {
		was := seen[placeOf(e)]
		seen[placeOf(e)] = true
		return was
	})
}

// takeText takes one annotation of an object, and reports whether it was removed.
func takeText(tb testing.TB, name, text string) (kept []*Entry, taken bool) {
	tb.Helper()
	obj := parseTest(tb, `{"metadata":{"annotations":{`+string(jsondoc.StringValue(name).Text())+`:`+string(jsondoc.StringValue(text).Text())+`}}}`)
	kept, err := Take(obj, Versions{From: "v2", To: "v1"}, &Memory{})
	if err != nil {
		tb.Fatal(err)
	}
	n, err := obj.Get("metadata", "annotations")
	if err != nil {
		tb.Fatal(err)
	}
	return kept, n == nil
}

// named returns the name of the annotation of v1 for a path.
func named(path Path) string {
	name, _ := Name("v1", path)
	return name
}
