package jsondoc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/reviewtest"
)

// outline reads a text that is an array of objects.
func outline(d *jsondoc.Document, text []byte) ([]jsondoc.Outline, error) {
	d.Reset(text)
	s, err := d.Scanner(jsondoc.MaxDepth)
	if err != nil {
		return nil, err
	}
	var outlines []jsondoc.Outline
	err = s.Elements(func() error {
		o, err := d.Outline(s, "metadata", nil)
		outlines = append(outlines, o)
		return err
	})
	return outlines, errors.Join(err, s.End())
}

func TestDocument(t *testing.T) {
	t.Parallel()
	const text = ` [ {"kind":"A","metadata":{"n\u0061me":"x"}} , { "k\u0069nd" : "B" }, {}, { } ] `
	var d jsondoc.Document
	outlines, err := outline(&d, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out jsondoc.Output
	out.Reset(&d)
	for i, o := range outlines {
		at, found := d.Member(o, "kind")
		if want := []string{`"A"`, `"B"`, "", ""}[i]; string(d.Text(at)) != want || found != (want != "") {
			t.Errorf("object %d: kind is %s, %v", i, d.Text(at), found)
		}
		obj := d.Open(o)
		if got, want := string(obj.Text()), string(d.Text(o.Span)); got != want {
			t.Errorf("object %d: text is %s, want %s", i, got, want)
		}
		if err := errors.Join(obj.Remove("kind"), obj.Set(d.Value(outlines[0].Span), "was", "first")); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			out.PutText(",")
		}
		out.Put(obj.Node)
		if got, _ := d.Member(o, "kind"); got != at {
			t.Errorf("object %d: an edit changed its outline", i)
		}
	}
	was := `"was":{"first":{"kind":"A","metadata":{"n\u0061me":"x"}}}`
	want := `{"metadata":{"n\u0061me":"x"},` + was + "},{" + was + "},{" + was + "},{" + was + "}"
	if got := string(out.AppendTo(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOutlineErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"no object", "[1]", "unexpected character: byte 1"},
		{"repeated at the top", `[{"a":1,"a":2}]`, "duplicate name: byte 8"},
		{"repeated in metadata", `[{"metadata":{"a":1,"a":2}}]`, "duplicate name: byte 20"},
		{"repeated in metadata in escapes", `[{"metad\u0061ta":{"a":1,"\u0061":2}}]`, "duplicate name: byte 25"},
		{"metadata twice in escapes", `[{"metadata":{},"metad\u0061ta":{}}]`, "duplicate name: byte 16"},
		{"repeated in spec", `[{"spec":{"a":1,"a":2}}]`, ""},
		{"repeated in labels", `[{"metadata":{"labels":{"a":1,"a":2}}}]`, ""},
		{"metadata is not an object", `[{"metadata":[1]},{"metadata":null}]`, ""},
		{"unclosed", `[{"a":1`, "unexpected end of the text: byte 7"},
		{"invalid in a value", `[{"a":[01]}]`, "unexpected character: byte 8"},
		{"invalid in metadata", `[{"metadata":{"a":tru}}]`, "invalid literal: byte 18"},
		{"too many members", "[" + strings.Repeat(`{"a":0,"b":0},`, 1<<19) + `{"a":0}]`, "too many members in all objects together: byte 7340039"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var d jsondoc.Document
			_, err := outline(&d, []byte(test.text))
			if got := firstLine(err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func firstLine(err error) string {
	if err == nil {
		return ""
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// TestDocumentReuse converts different texts in one document.
func TestDocumentReuse(t *testing.T) {
	t.Parallel()
	var d jsondoc.Document
	var out jsondoc.Output
	for round := range 20 {
		text := fmt.Sprintf(`[{"a":%d,"b":{"c":%d}},{"a":{"x":%q}}]`, round, round, strings.Repeat("y", round*13))
		outlines, err := outline(&d, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		out.Reset(&d)
		for _, o := range outlines {
			obj := d.Open(o)
			if err := errors.Join(obj.Set(jsondoc.StringValue(text), "a"), obj.Set(jsondoc.IntValue(int64(round)), "b", "d", "e")); err != nil {
				t.Fatal(err)
			}
			out.Put(obj.Node)
		}
		quoted := string(jsondoc.StringValue(text).Text())
		want := fmt.Sprintf(`{"a":%s,"b":{"c":%d,"d":{"e":%d}}}{"a":%s,"b":{"d":{"e":%d}}}`, quoted, round, round, quoted, round)
		if got := string(out.AppendTo(nil)); got != want {
			t.Fatalf("round %d:\ngot  %s\nwant %s", round, got, want)
		}
	}
}

// TestObjectsDoNotShareRoom adds more members to two objects than each has room for, in a document
// with room.
func TestObjectsDoNotShareRoom(t *testing.T) {
	t.Parallel()
	var d jsondoc.Document
	outlines, err := outline(&d, []byte(`[{"x":{"a":0},"y":{"a":0}}]`))
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		o := d.Open(outlines[0])
		x, y := get(t, o, "x"), get(t, o, "y")
		for _, n := range []*jsondoc.Node{x, y} {
			if a, err := n.Member("a"); a == nil || err != nil {
				t.Fatal(err)
			}
		}
		for name := range strings.FieldsSeq("b c d e f g h i j k") {
			if err := errors.Join(x.SetMember(name, jsondoc.IntValue(1)), y.SetMember(name, jsondoc.IntValue(2)), o.Set(jsondoc.IntValue(3), name)); err != nil {
				t.Fatal(err)
			}
		}
		want := `{"x":{"a":0#1},"y":{"a":0#2}#3}`
		for _, n := range []string{"1", "2", "3"} {
			want = strings.Replace(want, "#"+n, `,"`+strings.ReplaceAll("b c d e f g h i j k", " ", `":`+n+`,"`)+`":`+n, 1)
		}
		if got := string(o.Text()); got != want {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	}
}

// TestLooksAreNotCounted opens an object with a thousand members more often than the limit for
// members of outlines.
func TestLooksAreNotCounted(t *testing.T) {
	t.Parallel()
	members := make([]string, 1000)
	for i := range members {
		members[i] = fmt.Sprintf(`"%d":0`, i)
	}
	var d jsondoc.Document
	outlines, err := outline(&d, []byte(`[{"a":{`+strings.Join(members, ",")+`}}]`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1 << 20 / 900 {
		if n, err := d.Open(outlines[0]).Get("a", "999"); n == nil || err != nil {
			t.Fatalf("look %d: %v", i, err)
		}
	}
}

// TestResetLetsGo checks that a document keeps neither the previous text nor much of its memory.
func TestResetLetsGo(t *testing.T) {
	for _, members := range []int{300, 60_000} {
		var d jsondoc.Document
		var out jsondoc.Output
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		collected := make(chan struct{})
		runtime.AddCleanup(useUp(t, &d, &out, members), func(c chan struct{}) { close(c) }, collected)
		d.Reset(nil)
		out.Reset(&d)
		released := false
		for range 20 {
			runtime.GC()
			select {
			case <-collected:
				released = true
			default:
				runtime.Gosched()
			}
		}
		if !released {
			t.Errorf("%d members: the text before is still held", members)
		}
		runtime.ReadMemStats(&after)
		if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > 6<<20 {
			t.Errorf("%d members: %d bytes are kept", members, kept)
		}
		runtime.KeepAlive(&d)
		runtime.KeepAlive(&out)
	}
}

// useUp fills d and out to their limits, and returns the start of their text.
func useUp(t *testing.T, d *jsondoc.Document, out *jsondoc.Output, members int) *byte {
	t.Helper()
	text := []byte("[" + strings.Repeat(`{"a":1},`, members) + `{"m":{`)
	for i := range members {
		text = fmt.Appendf(text, `"name%d":{},`, i)
	}
	text = append(text, `"end":0}}]`...)
	outlines, err := outline(d, text)
	if err != nil {
		t.Fatal(err)
	}
	out.Reset(d)
	for _, o := range outlines {
		obj := d.Open(o)
		if err := obj.Set(jsondoc.StringValue(strings.Repeat("x", 100)), "m", "edited"); err != nil {
			t.Fatal(err)
		}
		out.Put(obj.Node)
	}
	d.Open(outlines[0]) // leaves the previous object's nodes and members in memory
	return &text[0]
}

// TestStaleOutput checks that an output that is older than its document's text never shows memory
// behind that text, where other texts are.
func TestStaleOutput(t *testing.T) {
	t.Parallel()
	const others = `"an object of another user"`
	tests := map[string]func(d *jsondoc.Document, out *jsondoc.Output){
		"of the text": func(d *jsondoc.Document, out *jsondoc.Output) {
			body := []byte(`[` + others + `]`)
			out.PutSpan(jsondoc.Span{Start: 1, End: uint32(len(others)) + 1})
			d.Reset(body[:2])
		},
		"of what was added": func(d *jsondoc.Document, out *jsondoc.Output) {
			out.PutText(others)
			d.Reset([]byte("[]"))
		},
	}
	for name, reset := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d jsondoc.Document
			d.Reset([]byte("[]"))
			var out jsondoc.Output
			out.Reset(&d)
			reset(&d, &out)
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			t.Errorf("text of a reset document: %s", out.AppendTo(nil))
		})
	}
}

// TestAllocations limits what a small conversion allocates in a reused document, without the values
// it sets.
func TestAllocations(t *testing.T) {
	text := reviewtest.Object(0, 4300)
	host, port := jsondoc.StringValue("h"), jsondoc.StringValue("8080")
	var d jsondoc.Document
	var out jsondoc.Output
	var answer []byte
	convert := func() {
		d.Reset(text)
		s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
		if err != nil {
			t.Fatal(err)
		}
		o, err := d.Outline(&s, "metadata", nil)
		if err != nil {
			t.Fatal(err)
		}
		obj := d.Open(o)
		for _, err := range [...]error{
			obj.Set(host, "spec", "host"), obj.Set(port, "spec", "port"), obj.Remove("spec", "hostPort"), obj.Set(host, "apiVersion"),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		out.Reset(&d)
		out.Put(obj.Node)
		answer = out.AppendTo(answer[:0])
	}
	convert()
	if got := testing.AllocsPerRun(200, convert); got > 1 {
		t.Errorf("%v allocations, want 1 at most: the list of names", got)
	}
	if !bytes.Contains(answer, []byte(`"host":"h","port":"8080"}`)) {
		t.Errorf("the edits are missing: %s", answer)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 64)
	tests := []struct {
		name, text string
		edits      []edit
		pieces     []string
	}{
		{"untouched", `{"a":1}`, nil, []string{`{"a":1}`}},
		{"one value", `{"a":1,"b":{"c":2},"d":3}`, []edit{set("9", "b", "c")}, []string{`{"a":1,"b":{"c":`, "9", `},"d":3}`}},
		{"the first", `{"a":1,"b":2}`, []edit{set("9", "a")}, []string{`{"a":`, "9", `,"b":2}`}},
		{"the last", `{"a":1,"b":2 }`, []edit{set("9", "b")}, []string{`{"a":1,"b":`, "9", " }"}},
		{"a new one", `{"a":1,"b":2 }`, []edit{set("9", "c")}, []string{`{"a":1,"b":2 `, `,"c":9`, "}"}},
		{"two new ones", `{"a":1}`, []edit{set("9", "c"), set("8", "d")}, []string{`{"a":1`, `,"c":9,"d":8`, "}"}},
		{"removed in the middle", `{"a":1,"b":2,"c":3}`, []edit{remove("b")}, []string{`{"a":1`, `,"c":3}`}},
		{"removed first", `{"a":1,"b":2}`, []edit{remove("a")}, []string{"{", `"b":2}`}},
		{"moved", `{"a":{"x":1},"b":2}`, []edit{move("a", "c")}, []string{"{", `"b":2`, `,"c":{"x":1}`, "}"}},
		{"moved, and long", `{"a":"` + long + `","b":2}`, []edit{move("a", "c")}, []string{"{", `"b":2`, `,"c":`, `"` + long + `"`, "}"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var d jsondoc.Document
			outlines, err := outline(&d, []byte("["+test.text+"]"))
			if err != nil {
				t.Fatal(err)
			}
			o := d.Open(outlines[0])
			for _, edit := range test.edits {
				if err := edit(t, o); err != nil {
					t.Fatal(err)
				}
			}
			var out jsondoc.Output
			out.Reset(&d)
			out.Put(o.Node)
			var w pieces
			n, err := out.WriteTo(&w)
			if err != nil || fmt.Sprint([]string(w)) != fmt.Sprint(test.pieces) || len(w) != len(test.pieces) {
				t.Errorf("pieces are %q, want %q, error %v", w, test.pieces, err)
			}
			whole := strings.Join(test.pieces, "")
			if got := string(out.AppendTo([]byte("before"))); got != "before"+whole || int(n) != len(whole) || out.Len() != len(whole) {
				t.Errorf("AppendTo gives %s; WriteTo wrote %d, Len is %d", got, n, out.Len())
			}
		})
	}
}

// pieces keeps what was written by the writes.
type pieces []string

func (p *pieces) Write(b []byte) (int, error) { *p = append(*p, string(b)); return len(b), nil }

func TestOutputOfOtherTexts(t *testing.T) {
	t.Parallel()
	var d jsondoc.Document
	d.Reset([]byte("0123456789"))
	var out jsondoc.Output
	out.Reset(&d)
	out.PutText("")
	out.PutText("<")
	out.PutText("<")
	out.PutSpan(jsondoc.Span{Start: 2, End: 4})
	out.PutSpan(jsondoc.Span{Start: 4, End: 4})
	out.PutSpan(jsondoc.Span{Start: 4, End: 6})
	out.PutSpan(jsondoc.Span{Start: 4, End: 6})
	out.PutText(">")
	if got := string(out.AppendTo(nil)); got != "<<234545>" || out.Len() != len(got) {
		t.Errorf("got %s, Len %d", got, out.Len())
	}
	out.Reset(&d)
	if got := out.AppendTo(nil); len(got) != 0 || out.Len() != 0 {
		t.Errorf("after Reset: %s", got)
	}
}

func TestOutputToAWriterThatFails(t *testing.T) {
	t.Parallel()
	var d jsondoc.Document
	d.Reset([]byte("0123456789"))
	var out jsondoc.Output
	out.Reset(&d)
	out.PutSpan(jsondoc.Span{Start: 0, End: 3})
	out.PutText("x")
	n, err := out.WriteTo(&limited{left: 3})
	if n != 3 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %d, %v", n, err)
	}
}

type limited struct{ left int }

func (l *limited) Write(b []byte) (int, error) {
	if len(b) > l.left {
		return 0, io.ErrShortWrite
	}
	l.left -= len(b)
	return len(b), nil
}
