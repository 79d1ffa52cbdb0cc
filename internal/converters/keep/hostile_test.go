package keep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/test/helpers/costtest"
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

func hostileAnnotations() []hostile {
	deep := pathOf(slices.Repeat([]string{"a"}, annotation.MaxSteps/2)...)
	long := pathOf(slices.Repeat([]string{"a"}, 100_000)...)
	list := func(size int) string { // of fewer elements than maxElements
		return `{"l":[` + repeated(size, numbered(`{"x":%d,"long":"`+strings.Repeat("a", 90)+`"}`)) + `]}`
	}
	keyed := func(size int) string { return `{"l":[` + repeated(size, numbered(`{"name":"n%d"}`)) + `]}` }
	entries := func(size int) string { return `{"m":{` + repeated(size, numbered(`"k%d":{"x":1}`)) + `}}` }
	return []hostile{
		{"a long name", annotation.Prefix + "v1" + strings.Repeat(".a", 100_000), same0(`{"value":1}`), nil},
		{"a long name of one word", annotation.Prefix + "v1.spec." + strings.Repeat("a", 200_000), same0(`{"value":1}`), nil},
		{"a long path", named(long), func(size int) string {
			return `{"value":1,"path":[` + repeated(size, same0(`"a"`)) + `]}`
		}, nil},
		{"many parts below a deep path", named(deep), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"absent":true,"path":["a","b%d"]}`)) + `]}`
		}, nil},
		{"many parts with deep paths", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":[`+strings.Repeat(`"a",`, annotation.MaxSteps/2)+`"b%d"]}`)) + `]}`
		}, nil},
		{"many parts of a map", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"absent":true,"path":["m","k%d","x"]}`)) + `]}`
		}, entries},
		{"many parts of one place", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, same0(`{"value":1,"path":["m"]}`)) + `]}`
		}, entries},
		{"a place, and those in it", named(pathOf("spec")), func(size int) string {
			return `{"parts":[{"absent":true,"path":["m"]},` + repeated(size, numbered(`{"value":2,"path":["m","k%d","x"]}`)) + `]}`
		}, entries},
		{"many elements with keys", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":["l",{"name":"n%d"},"x"]}`)) + `]}`
		}, keyed},
		{"many elements that are not there", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"in":0,"path":["l",{"other":%d},"x"]}`)) + `]}`
		}, keyed},
		{"elements by many sets of keys", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"value":1,"path":["l",{"name":"n0","k%d":1},"x"]}`)) + `]}`
		}, keyed},
		{"elements by many keys", named(pathOf("spec", "l")), func(size int) string {
			return `{"order":[{` + repeated(size, numbered(`"k%d":1`)) + `}]}`
		}, keyed},
		{"a long order", named(pathOf("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size/2, numbered(`{"name":"n%d"}`)) + `],"added":[` + repeated(size/2, numbered(`{"after":%d,"value":1}`)) + `]}`
		}, keyed},
		{"an order of one element", named(pathOf("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size, same0(`{"name":"n0"}`)) + `]}`
		}, keyed},
		{"many elements with the same keys", named(pathOf("spec", "l")), func(size int) string {
			return `{"order":[` + repeated(size/4, numbered(`{"name":"n%d"}`)) + `],"added":[` + repeated(size/2, same0(`{"after":99999,"value":{"name":"n0"}}`)) + `]}`
		}, keyed},
		{"many elements without keys", named(pathOf("spec", "l")), func(size int) string {
			return `{"list":{"length":1,"elements":{` + repeated(size, numbered(`"%d":{"was":"a"}`)) + `}}}`
		}, list},
		{"values of many elements without keys", named(pathOf("spec", "l")), func(size int) string {
			return `{"list":{"length":1,"elements":{` + repeated(size, numbered(`"%d":{"was":"a","kept":[{"value":1,"path":["y"]}],"alike":"a"}`)) + `}}}`
		}, list},
		{"much that an element is like", named(pathOf("spec", "l")), func(size int) string {
			return `{"list":{"length":2,"elements":{"0":{"was":"a","kept":[{"value":1,"path":["y"]}],"alike":"` + strings.Repeat("a ", size/2) + `a"}}}}`
		}, func(int) string { return `{"l":[{"a":1},{"b":2}]}` }},
		{"many elements more", named(pathOf("spec", "l")), func(size int) string {
			return `{"list":{"length":2,"elements":{` + repeated(size/2, numbered(`"%d":{"was":"a"}`)) + `},"added":[` +
				repeated(size/2, same0(`{"after":-1,"value":1}`)) + `]}}`
		}, func(int) string { return `{"l":[{"a":1},{"b":2}]}` }},
		{"lists in lists", named(pathOf("spec", "l")), func(size int) string {
			const before, after = `"list":{"length":1,"elements":{"0":{"was":"a","kept":[`, `]}}}}`
			return "{" + before + strings.Repeat(`{"path":["x"],`+before, annotation.MaxNested-1) + repeated(size/2, numbered(`{"value":1,"path":["x%d"]}`)) +
				strings.Repeat(after, annotation.MaxNested)
		}, func(int) string { return `{"l":` + strings.Repeat(`[{"x":`, 80) + "1" + strings.Repeat("}]", 80) + "}" }},
		{"a deep value", named(pathOf("spec", "l")), func(size int) string {
			return `{"value":` + strings.Repeat("[", min(size/4, 500)) + strings.Repeat("]", min(size/4, 500)) + `}`
		}, nil},
		{"a deep value in each of many parts", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["m","k%d"],"value":`+strings.Repeat("[", 400)+strings.Repeat("]", 400)+`}`)) + `]}`
		}, entries},
		{"escapes", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["\u006d","\u006b%d"],"value":"`+strings.Repeat(`\u0061`, 20)+`"}`)) + `]}`
		}, entries},
		{"invalid JSON at its end", named(pathOf("spec")), func(size int) string {
			return `{"parts":[` + repeated(size, numbered(`{"path":["k%d"],"value":1}`)) + `,`
		}, nil},
	}
}

// The cost of any annotation is linear in its size and in the size of the object.
func TestHostileAnnotationsCostNoMoreThanTheirSize(t *testing.T) { //nolint:paralleltest // it measures
	for _, h := range hostileAnnotations() {
		t.Run(h.what, func(t *testing.T) {
			costtest.Linear(t, 1<<17, func(size int) func() {
				into := `{"spec":{}}`
				if h.into != nil {
					into = `{"spec":` + h.into(size) + `}`
				}
				text, obj, x := h.text(size), parseTest(t, into), parseTest(t, into)
				return func() {
					kept, _ := takeText(t, h.name, text)
					if _, err := Restore(t.Context(), &Memory{}, obj, x, nil, kept, &Layout{}); err != nil {
						t.Error(err)
					}
					obj.Text()
				}
			})
		})
	}
}

// The entries of an object cost no more than its size, even if each element has some.
func TestEntriesCostNoMoreThanTheirObject(t *testing.T) { //nolint:paralleltest // it measures
	const list = "list"
	mapOfList := &Layout{Root: &Place{Members: map[string]*Place{
		"m": {Moved: true, Counterparts: []Counterpart{{Path: pathOf("l")}}, Of: list, Each: &Place{Scope: true}},
	}}}
	for name, test := range map[string]struct {
		shown, element, lacks string // the other version's object and each of its elements; what they lack
		layout                *Layout
	}{
		"a list without keys": {`{"l":[%s]}`, `{"k":"a%d"%s}`, `,"x":1`, &Layout{}},
		"a list with keys":    {`{"l":[%s]}`, `{"k":"a%d"%s}`, `,"x":1`, &Layout{Root: &Place{Members: map[string]*Place{"l": {Keys: []string{"k"}}}}}},
		"a map":               {`{"m":{%s}}`, `"a%d":{"b":1%s}`, `,"x":1`, &Layout{}},
		"a map that the other version has as list": {`{"m":{%s}}`, `"a%d":{"b":1%s}`, `,"x":1`, mapOfList},
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 1<<16, func(size int) func() {
				of := func(lacks string) string {
					return fmt.Sprintf(test.shown, repeated(size, func(i int) string { return fmt.Sprintf(test.element, i, lacks) }))
				}
				c := &Conversion{X: parseTest(t, of(test.lacks)), Y: parseTest(t, of("")), G: parseTest(t, of("")), Layout: test.layout, Trace: &Trace{}}
				if test.layout == mapOfList {
					c.Y = parseTest(t, `{"l":[`+repeated(size, numbered(`{"k":"a%d","b":1}`))+`]}`)
					elements := c.Trace.Add(list, size)
					for i := range strings.Count(string(c.Y.Text()), "{") - 1 {
						elements.Enter(Source{Index: i, Name: fmt.Sprintf("a%d", i)})
					}
				}
				return func() {
					if entries, err := Diff(t.Context(), &Memory{}, c); err != nil || len(entries) == 0 {
						t.Error(len(entries), err)
					}
				}
			})
		})
	}
}
