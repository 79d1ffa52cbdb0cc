package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/hostile"
)

// FuzzScan compares the scanner with encoding/json, jsontext and sigs.k8s.io/json: the texts it
// accepts, and the positions of names and values. A walk over valid text finds the same ones and
// exactly the duplicate names, and one over other text fails.
func FuzzScan(f *testing.F) {
	cases := hostile.Cases()
	for i := range cases {
		if text := cases[i].Request.Body(); cases[i].Set == hostile.Syntax && len(text) < 1<<16 {
			f.Add([]byte(text))
		}
	}
	for _, text := range []string{
		"[0,-0,0.0,-0.0e-0,0E+00,18446744073709551615,1.10,1e21,1E400,-1e-400]", strings.Repeat("9", 100),
		`"\"\\\/\b\f\n\r\t\u0000\u001F\u007f"`, `"\ud83d\uDE00\udbff\udfff"`, `"\ud7ff\ue000\uffff"`, "\"\u007fé\u2028\ufeff\ufffd😀\U0010ffff\"",
		` { "a\u0062" : 1.50 , "list" : [ "x" , {"y":[ ]} , null ] , "o" : { "p" : true, "":"" } } `,
		`"` + strings.Repeat("a", 63) + `"`, `"` + strings.Repeat("a", 64) + `"`, `["` + strings.Repeat("a", 129) + `",1]`,
		`"` + strings.Repeat("a", 60) + `\ud83d\ude00` + strings.Repeat("é", 60) + `"`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		accepted, disagreement := verdict(text)
		if disagreement != "" {
			t.Fatal(disagreement)
		}
		if !accepted {
			if descend(text, jsondoc.MaxDepth) == nil {
				t.Fatal("a walk finds nothing wrong")
			}
			return
		}
		if err := sameWalk(text); err != nil && !errors.Is(err, errRepeated) {
			t.Fatal(err)
		}
		if err := sameSteps(text); err != nil {
			t.Fatal(err)
		}
	})
}

type rawMember struct {
	name  string
	value jsontext.Value
}

// membersOf reads one level of an object with jsontext.
func membersOf(text []byte) (members []rawMember, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(text), allowDuplicates())
	if d.PeekKind() != '{' {
		return nil, errors.New("no object")
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		members = append(members, rawMember{name, value.Clone()})
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if !jsontext.Value(text).IsValid(allowDuplicates()) {
		return nil, errors.New("more than one value")
	}
	return members, nil
}

// FuzzEdit applies a program of edits to a text and to the decoded map. Both must give the same,
// and everything the program did not name must stay byte for byte.
func FuzzEdit(f *testing.F) {
	f.Fuzz(func(t *testing.T, text, program []byte) {
		if disagreement := runProgram(text, program); disagreement != "" {
			t.Fatal(disagreement)
		}
	})
}

// runProgram returns an error message, or "".
func runProgram(text, program []byte) string {
	if len(text) > 1<<12 || len(program) > 1<<10 || !jsontext.Value(text).IsValid() || scan(text, jsondoc.MaxDepth) != nil {
		return "" // duplicate names, which the model lacks
	}
	o, err := jsondoc.ParseObject(text)
	if err != nil {
		return ""
	}
	m := &model{root: decode(text), program: program}
	for steps := 0; len(m.program) > 0 && steps < 40; steps++ {
		if problem := m.step(o); problem != "" {
			return problem
		}
	}
	result := slices.Clone(o.Text())
	if !jsontext.Value(result).IsValid() {
		return "the result is not valid: " + string(result)
	}
	if got := decode(result); !reflect.DeepEqual(got, m.root) {
		want, err := json.Marshal(m.root)
		return "got " + string(result) + ", want " + string(want) + " " + errorText(err)
	}
	return m.sameBytes(nil, bytes.TrimSpace(text), result)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic("decode of valid text: " + err.Error())
	}
	return v
}

// A model is a decoded object and a program, whose bytes choose edits and their paths.
type model struct {
	root    any
	program []byte
	touched [][]string
	kept    jsondoc.Value // taken from a node by an earlier step
	keptAs  any
}

func (m *model) choose(n int) int {
	if len(m.program) == 0 {
		return 0
	}
	b := m.program[0]
	m.program = m.program[1:]
	return int(b) % n
}

// path walks down from the root, mostly along existing members.
func (m *model) path() []string {
	var path []string
	at := m.root
	for range 6 {
		object, _ := at.(map[string]any)
		names := make([]string, 0, len(object)+4)
		for name := range object {
			names = append(names, name)
		}
		slices.Sort(names)
		names = append(names, "a", "new", "a.b/\"\\c", "")
		name := names[m.choose(len(names))]
		path = append(path, name)
		at = object[name]
		if m.choose(3) == 0 {
			break
		}
	}
	return path
}

func (m *model) value() (jsondoc.Value, any) {
	texts := []string{
		`null`, `true`, `1.10`, `9007199254740993`, `"\u003cé\n"`, `[1, {"a" :2}]`, `{ }`, `{"a": {"b":[ ]} ,"new":"x"}`, `{"": 0}`,
	}
	text := texts[m.choose(len(texts))]
	v, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v, decode([]byte(text))
}

// step makes one edit in both, and returns a difference.
func (m *model) step(o *jsondoc.Object) string {
	switch m.choose(8) {
	case 0, 1: // set
		v, plain := m.value()
		path := m.path()
		return m.both("Set", path, o.Set(v, path...), m.set(plain, path))
	case 2:
		path := m.path()
		m.remove(path)
		return m.both("Remove", path, o.Remove(path...), true)
	case 3:
		from, to := m.path(), m.path()
		value, found := m.get(from)
		ok := true
		if found && !slices.Equal(from, to) {
			m.remove(from)
			ok = m.set(value, to)
		}
		m.touched = append(m.touched, from)
		moved, err := o.Move(from, to)
		if moved != found {
			return "Move of " + jsondoc.FormatPath(from...) + " found something else"
		}
		return m.both("Move", to, err, ok)
	case 4: // replace through a node
		path := m.path()
		n, err := o.Get(path...)
		if _, found := m.get(path); err != nil || found != (n != nil) {
			return "Get of " + jsondoc.FormatPath(path...) + " differs " + errorText(err)
		}
		if n == nil {
			return ""
		}
		v, plain := m.value()
		n.Replace(v)
		return m.both("Replace", path, nil, m.set(plain, path))
	case 5: // an element of an array
		return m.element(o)
	case 6: // keep a value, or set the kept one
		path := m.path()
		if m.keptAs != nil {
			return m.both("Set of a kept value", path, o.Set(m.kept, path...), m.set(m.keptAs, path))
		}
		n, err := o.Get(path...)
		if value, found := m.get(path); found {
			m.kept, m.keptAs = n.Value(), clone(value)
		}
		return errorText(err)
	default: // look, which must change nothing
		path := m.path()
		n, err := o.Get(path...)
		value, found := m.get(path)
		if err != nil || found != (n != nil) || found && !reflect.DeepEqual(decode(n.Text()), value) {
			return "Get of " + jsondoc.FormatPath(path...) + " is " + string(n.Text()) + " " + errorText(err)
		}
		if n != nil && n.Path() != jsondoc.FormatPath(path...) {
			return "Path is " + n.Path() + ", want " + jsondoc.FormatPath(path...)
		}
		return errorText(n.Each(func(string, *jsondoc.Node) bool { return true }))
	}
}

func (m *model) both(edit string, path []string, err error, ok bool) string {
	m.touched = append(m.touched, path)
	if (err == nil) != ok {
		return edit + " at " + jsondoc.FormatPath(path...) + ": " + errorText(err)
	}
	return ""
}

func (m *model) element(o *jsondoc.Object) string {
	path, i := m.path(), m.choose(3)
	n, err := o.Get(path...)
	value, _ := m.get(path)
	list, _ := value.([]any)
	v, plain := m.value()
	at := 0
	if n.Kind() == jsondoc.Array {
		err = errors.Join(err, n.Each(func(name string, element *jsondoc.Node) bool {
			if name != "" {
				err = errors.New("an element has a name")
			}
			if at == i {
				element.Replace(v)
			}
			at++
			return true
		}))
		m.touched = append(m.touched, path)
	}
	if i < len(list) {
		list[i] = plain
	}
	if at != len(list) {
		return "array at " + jsondoc.FormatPath(path...) + " has another length"
	}
	return errorText(err)
}

func (m *model) get(path []string) (value any, found bool) {
	value, found = m.root, true
	for _, name := range path {
		object, _ := value.(map[string]any)
		if value, found = object[name]; !found {
			return nil, false
		}
	}
	return value, found
}

func (m *model) set(value any, path []string) bool {
	at, _ := m.root.(map[string]any)
	for i, name := range path {
		if at == nil {
			return false
		}
		if i == len(path)-1 {
			at[name] = clone(value)
			return true
		}
		if next, found := at[name]; !found || next == nil {
			at[name] = map[string]any{}
		}
		at, _ = at[name].(map[string]any)
	}
	return false
}

func (m *model) remove(path []string) {
	last := len(path) - 1
	parent, _ := m.get(path[:last])
	if object, ok := parent.(map[string]any); ok {
		delete(object, path[last])
	}
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(value))
		for name, v := range value {
			copied[name] = clone(v)
		}
		return copied
	case []any:
		copied := make([]any, 0, len(value))
		for _, v := range value {
			copied = append(copied, clone(v))
		}
		return copied
	}
	return value
}

// sameBytes compares the values at untouched paths, and the order of names.
func (m *model) sameBytes(path []string, before, after []byte) string {
	isPrefix := func(a, b []string) bool { return len(a) <= len(b) && slices.Equal(a, b[:len(a)]) }
	if !slices.ContainsFunc(m.touched, func(touched []string) bool { return isPrefix(path, touched) }) {
		if !bytes.Equal(before, after) {
			return "untouched " + jsondoc.FormatPath(path...) + " was " + string(before) + " and is " + string(after)
		}
		return ""
	}
	if slices.ContainsFunc(m.touched, func(touched []string) bool { return isPrefix(touched, path) }) {
		return ""
	}
	was, err := membersOf(before)
	if err != nil {
		return "" // not an object: something was set through a null
	}
	is, err := membersOf(after)
	if err != nil {
		return "no object any more: " + jsondoc.FormatPath(path...)
	}
	last := -1
	for _, member := range was {
		below := append(slices.Clone(path), member.name)
		i := slices.IndexFunc(is, func(other rawMember) bool { return other.name == member.name })
		if slices.ContainsFunc(m.touched, func(touched []string) bool { return isPrefix(touched, below) }) {
			continue
		}
		if i <= last {
			return "gone or out of order: " + jsondoc.FormatPath(below...)
		}
		last = i
		if problem := m.sameBytes(below, member.value, is[i].value); problem != "" {
			return problem
		}
	}
	return ""
}

// FuzzString puts any text into a document as a string and as a name, and reads it back.
func FuzzString(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string) {
		valid := strings.ToValidUTF8(text, "\ufffd")
		literal := jsondoc.StringValue(text).Text()
		var decoded string
		if err := json.Unmarshal(literal, &decoded); err != nil {
			t.Fatal(err)
		}
		if got := jsondoc.Unquote(literal); got != decoded || text == valid && got != text {
			t.Fatalf("got %q, encoding/json reads %q", got, decoded)
		}
		o, err := jsondoc.ParseObject([]byte(`{"old":0}`))
		if err != nil {
			t.Fatal(err)
		}
		err = o.Set(jsondoc.IntValue(1), text)
		if (err == nil) != (text == valid) {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		again, err := jsondoc.ParseObject(o.Text())
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*jsondoc.Object{o, again} {
			if n, err := o.Get(text); err != nil || string(n.Text()) != "1" {
				t.Fatalf("got %s, %v from %s", n.Text(), err, o.Text())
			}
		}
	})
}
