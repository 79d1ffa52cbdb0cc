package keep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/costtest"
)

// A hostile annotation is as expensive as its author can make it.
type hostile struct {
	what, name string
	text       func(size int) string
	into       func(size int) string // the spec it is restored into; nil for {}
}

// repeated returns a text of about the given size, made of pieces with commas between them.
func repeated(size int, piece func(i int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(piece(i))
	}
	return b.String()
}

func same0(piece string) func(int) string { return func(int) string { return piece } }

func numbered(format string) func(int) string {
	return func(i int) string { return fmt.Sprintf(format, i) }
}

// named returns the name of the annotation of v1 for a path.
func named(path Path) string {
	name, _ := AnnotationName("v1", path)
	return name
}

func hostileAnnotations() []hostile {
	deep := Names(slices.Repeat([]string{"a"}, maxSteps/2)...)
	long := Names(slices.Repeat([]string{"a"}, 100_000)...)
	list := func(size int) string { return `{"l":[` + repeated(size, numbered(`{"x":%d}`)) + `]}` }
	keyed := func(size int) string { return `{"l":[` + repeated(size, numbered(`{"name":"n%d"}`)) + `]}` }
	entries := func(size int) string { return `{"m":{` + repeated(size, numbered(`"k%d":{"x":1}`)) + `}}` }
	return []hostile{
		{"a long name", Prefix + "v1" + strings.Repeat(".a", 100_000), same1(`{"value":1}`), nil},
		{"a long name of one word", Prefix + "v1.spec." + strings.Repeat("a", 200_000), same1(`{"value":1}`), nil},
		{"a long path", named(long), func(size int) string {
			return `{"value":1,"path":[` + repeated(size, same0(`"a"`)) + `]}`
		}, nil},
		{"many parts below a deep path", named(deep), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"absent":true,"path":["a","b%d"]}`)) + `]}`
		}, nil},
		{"many parts with deep paths", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":[`+strings.Repeat(`"a",`, maxSteps/2)+`"b%d"]}`)) + `]}`
		}, nil},
		{"many parts of a map", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"absent":true,"path":["m","k%d","x"]}`)) + `]}`
		}, entries},
		{"many parts of one place", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, same0(`{"value":1,"path":["m"]}`)) + `]}`
		}, entries},
		{"a place, and those in it", named(Names("spec")), func(size int) string {
			return `{"parts":[{"absent":true,"path":["m"]},` + repeated(size, numbered(`{"value":2,"path":["m","k%d","x"]}`)) + `]}`
		}, entries},
		{"many elements with keys", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":["l",{"name":"n%d"},"x"]}`)) + `]}`
		}, keyed},
		{"many elements that are not there", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"in":0,"path":["l",{"other":%d},"x"]}`)) + `]}`
		}, keyed},
		{"elements by many sets of keys", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":["l",{"name":"n0","k%d":1},"x"]}`)) + `]}`
		}, keyed},
		{"elements by many keys", named(Names("spec", "l")), func(size int) string {
			return `{"order":[{` + repeated(size, numbered(`"k%d":1`)) + `}]}`
		}, keyed},
		{"a long order", named(Names("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size/2, numbered(`{"name":"n%d"}`)) + `],"lone":[` + repeated(size/2, numbered("%d")) + `]}`
		}, keyed},
		{"an order of one element", named(Names("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size, same0(`{"name":"n0"}`)) + `]}`
		}, keyed},
		{"many elements with the same keys", named(Names("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size/4, numbered(`{"name":"n%d"}`)) + `],"extra":[` + repeated(size/2, same0(`{"after":99999,"value":{"name":"n0"}}`)) + `]}`
		}, keyed},
		{"digests of many elements", named(Names("spec", "l")), func(size int) string {
			return `{"list":{"was":"` + strings.Repeat("a ", min(size, maxElements)) + `"}}`
		}, list},
		{"parts of elements that are not there", named(Names("spec", "l")), func(size int) string {
			return `{"list":{"was":"a","parts":{` + repeated(size, numbered(`"%d":{"kept":[]}`)) + `}}}`
		}, list},
		{"much that an element is like", named(Names("spec", "l")), func(size int) string {
			return `{"list":{"was":"a b","parts":{"0":{"kept":[{"value":1,"path":["y"]}],"alike":"` + strings.Repeat("a ", size/2) + `"}}}}`
		}, func(int) string { return `{"l":[{"a":1},{"b":2}]}` }},
		{"many elements more", named(Names("spec", "l")), func(size int) string {
			return `{"list":{"was":"` + strings.Repeat("b ", min(size/4, maxElements)) + `","extra":[` + repeated(size/2, same0(`{"after":99999,"value":1}`)) + `]}}`
		}, list},
		{"lists in lists", named(Names("spec", "l")), func(size int) string {
			const before, after = `{"list":{"was":"a","parts":{"0":{"kept":[`, `]}}}`
			n := maxNested - 1
			return before + strings.Repeat(`{"path":["x"],"list":{"was":"a","parts":{"0":{"kept":[`, n) + repeated(size/2, numbered(`{"value":1,"path":["x%d"]}`)) +
				strings.Repeat(`]}}}}`, n) + after + `}`
		}, func(int) string { return `{"l":` + strings.Repeat(`[{"x":`, 80) + "1" + strings.Repeat("}]", 80) + "}" }},
		{"a deep value", named(Names("spec", "l")), func(size int) string {
			return `{"value":` + strings.Repeat("[", min(size/4, 500)) + strings.Repeat("]", min(size/4, 500)) + `}`
		}, nil},
		{"a deep value in each of many parts", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["m","k%d"],"value":`+strings.Repeat("[", 400)+strings.Repeat("]", 400)+`}`)) + `]}`
		}, entries},
		{"escapes", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["\u006d","\u006b%d"],"value":"`+strings.Repeat(`\u0061`, 20)+`"}`)) + `]}`
		}, entries},
		{"invalid JSON at its end", named(Names("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["k%d"],"value":1}`)) + `,`
		}, nil},
	}
}

func same1(text string) func(int) string { return func(int) string { return text } }

// The cost of any annotation is linear in its size and in the size of the object.
func TestHostileAnnotationsCostNoMoreThanTheirSize(t *testing.T) { //nolint:paralleltest // it counts what the process takes
	for _, h := range hostileAnnotations() {
		t.Run(h.what, func(t *testing.T) {
			costtest.Linear(t, 1<<17, func(size int) func() {
				text, into := h.text(size), `{"spec":{}}`
				if h.into != nil {
					into = `{"spec":` + h.into(size) + `}`
				}
				obj, read := parseTest(t, into), parseTest(t, into)
				return func() {
					kept, _ := takeText(t, h.name, text)
					if _, err := Restore(t.Context(), &Memory{}, obj, read, kept, &Layout{OtherVersion: "v2"}); err != nil {
						t.Error(err)
					}
					obj.Text()
				}
			})
		})
	}
}
