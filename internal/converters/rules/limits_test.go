package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// costly is an expression that costs a hundredth of the limit of an object, and then gives what
// follows it.
func costly(then string) string {
	return `"` + strings.Repeat("a", 10_000) + `".contains("` + strings.Repeat("b", 1000) + `") ? "" : ` + then
}

// noted converts an object, and returns what was reported apart from the result.
func noted(t *testing.T, kind *converters.Kind, object, from, to string) (string, converters.Report) {
	t.Helper()
	text, report, err := tryNoted(t, kind, object, from, to)
	if err != nil {
		t.Fatal(err)
	}
	return text, report
}

func tryNoted(t *testing.T, kind *converters.Kind, object, from, to string) (string, converters.Report, error) {
	t.Helper()
	obj, err := jsondoc.ParseObject([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	var report converters.Report
	if err := kind.Convert(new(converters.ReportContext).With(t.Context(), &report), obj, from, to); err != nil {
		return "", report, err
	}
	if err := obj.Set(jsondoc.StringValue("example.com/"+to), "apiVersion"); err != nil {
		t.Fatal(err)
	}
	return string(obj.Text()), report, nil
}

// dearObject has elements with a, and with c, which no expression converts.
func dearObject(n int) string {
	list := make([]string, 0, n)
	for i := range n {
		list = append(list, fmt.Sprintf(`{"name":"n%d","a":"XY","c":"90s"}`, i))
	}
	return `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"n","annotations":{"theirs":"x"}},` +
		`"spec":{"z":"Z","l":[` + strings.Join(list, ",") + `]}}`
}

// The cost limit of an object is reached at some element of a list. Then none of the expressions
// counts, neither those of earlier elements nor those of rules outside the list, and all their
// inputs are kept. Everything else is converted as usual.
func TestACostLimitIsAllOrNothing(t *testing.T) {
	t.Parallel()
	const others = "\n- {spoke: '.spec.l[].c', hub: '.spec.l[].seconds', codec: DurationSeconds}" +
		"\n- {spoke: .spec.z, hub: .spec.y, toHub: 'self + \"!\"', toSpoke: 'self'}"
	for name, test := range map[string]struct {
		rule              string
		thereFor, backFor bool // whether the limit is that of the conversion there, and of the one back
	}{
		"of an expression": {`toHub: '` + costly("self.lowerAscii()") + `', toSpoke: self.upperAscii()`, true, false},
		"of a guard":       {`whenToHub: '(` + costly(`"x"`) + `) == "x"'`, true, false},
		"of the way back":  {`toHub: self.lowerAscii(), toSpoke: '` + costly("self.upperAscii()") + `'`, false, true},
		"of both ways": { // where nothing has come of the first, the second has nothing to do
			`toHub: '` + costly("self.lowerAscii()") + `', toSpoke: '` + costly("self.upperAscii()") + `'`, true, false,
		},
		"of the guard of the way back": {`whenToSpoke: '(` + costly(`"x"`) + `) == "x"'`, false, true},
	} {
		for _, keys := range []string{"", ", name"} {
			t.Run(name+keys, func(t *testing.T) {
				t.Parallel()
				kind := pair{
					beta:  "{spec: {z: string, l: [{name: string, a: string, c: string}" + keys + "]}}",
					v1:    "{spec: {y: string, l: [{name: string, b: string, seconds: integer}" + keys + "]}}",
					rules: "- {spoke: '.spec.l[].a', hub: '.spec.l[].b', " + test.rule + "}" + others,
				}.kind(t)
				for n, reached := range map[int]bool{90: false, 150: true} {
					object := dearObject(n)
					there, report := noted(t, kind, object, "v1beta1", "v1")
					if diff := cmp.Diff(converters.Report{CostLimit: reached && test.thereFor}, report); diff != "" {
						t.Errorf("%d elements, noted there (-want +got):\n%s", n, diff)
					}
					want := map[string]int{`"b"`: n, `"seconds":90`: n, `"y":"Z!"`: 1, `"theirs":"x"`: 1}
					if reached && test.thereFor {
						want[`"b"`], want[`"y":"Z!"`] = 0, 0
					}
					bare, _ := bareAndKept(t, there)
					has := map[string]int{}
					for field := range want {
						has[field] = strings.Count(bare, field)
					}
					if diff := cmp.Diff(want, has); diff != "" {
						t.Errorf("%d elements (-want +got):\n%s", n, diff)
					}
					back, report := noted(t, kind, there, "v1", "v1beta1")
					if diff := cmp.Diff(decodedJSON(t, object), decodedJSON(t, back)); diff != "" {
						t.Errorf("%d elements do not come back (-want +got):\n%.2000s", n, diff)
					}
					if diff := cmp.Diff(converters.Report{CostLimit: reached && test.backFor}, report); diff != "" {
						t.Errorf("%d elements, noted on the way back (-want +got):\n%s", n, diff)
					}
				}
			})
		}
	}
}

// The same, but the API server fills in a default before it stores the object, so the way back is
// computed again.
func TestACostLimitNextToDefaultsLosesNothing(t *testing.T) {
	t.Parallel()
	way := func(of string) string { return `'` + costly(of) + `'` }
	of := func(toHub, toSpoke string) world {
		return two("{spec: {note: string, l: [{name: string, a: string}, name]}}",
			"{spec: {note: string, size: integer = 1, l: [{name: string, b: 'string = \"none\"'}, name]}}",
			`- {spoke: '.spec.l[].a', hub: '.spec.l[].b', toHub: `+toHub+`, toSpoke: `+toSpoke+`}`)
	}
	steps := []step{
		create("v1beta1", elements(150, "a: XY")), edit("v1", `{spec: {note: x}}`), shows("v1beta1", elements(150, "a: XY", "note: x")),
		edit("v1", `{spec: {size: 2}}`), shows("v1beta1", elements(150, "a: XY", "note: x")),
	}
	rows{
		"there":     {world: of(way("self.lowerAscii()"), "self.upperAscii()"), steps: steps},
		"back":      {world: of("self.lowerAscii()", way("self.upperAscii()")), steps: steps},
		"both ways": {world: of(way("self.lowerAscii()"), way("self.upperAscii()")), steps: steps},
	}.hold(t)
}

// One expression may cost a tenth of that. Its inputs are kept, and other expressions count.
func TestACostLimitOfOneExpressionIsNoted(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {a: string, z: string}}", v1: "{spec: {n: integer, y: string}}",
		rules: "- {spoke: .spec.a, hub: .spec.n, toHub: 'self.indexOf(self + \"!\")', toSpoke: 'string(self)'}\n" +
			"- {spoke: .spec.z, hub: .spec.y, toHub: self, toSpoke: self}",
	}.kind(t)
	for n, reached := range map[int]bool{100: false, 20_000: true} {
		object := head("v1beta1", `,"spec":{"z":"z","a":"`+strings.Repeat("x", n)+`"}`)
		there, report := noted(t, kind, object, "v1beta1", "v1")
		if diff := cmp.Diff(converters.Report{CostLimit: reached}, report); diff != "" {
			t.Errorf("%d characters, noted (-want +got):\n%s", n, diff)
		}
		if strings.Contains(there, `"n":-1`) == reached || !strings.Contains(there, `"y":"z"`) {
			t.Errorf("%d characters: %.300s", n, there)
		}
		if back := convert(t, kind, there, "v1", "v1beta1"); cmp.Diff(decodedJSON(t, object), decodedJSON(t, back)) != "" {
			t.Errorf("%d characters come back as %.300s", n, back)
		}
	}
}

func TestWhatAConversionNotices(t *testing.T) {
	t.Parallel()
	w := pair{beta: "{spec: {a: string}}", v1: "{spec: {a: string, owner: string, o: {'+': any}}}"}
	kind := w.kind(t)
	for name, test := range map[string]struct {
		object string
		want   converters.Report
		fails  bool
	}{
		"nothing":                      {`,"spec":{"a":"x","owner":"me"}`, converters.Report{}, false},
		"a field that no version has":  {`,"spec":{"a":"x","fresh":"x"}`, converters.Report{UnknownFields: true}, false},
		"a field that may be anything": {`,"spec":{"a":"x","o":{"fresh":"x"}}`, converters.Report{}, false},
		"too much":                     {`,"spec":{"owner":"` + noise(300<<10) + `"}`, converters.Report{TooLarge: true}, true},
		"all":                          {`,"spec":{"fresh":"` + noise(300<<10) + `"}`, converters.Report{UnknownFields: true, TooLarge: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, got, err := tryNoted(t, kind, head("v1", test.object), "v1", "v1beta1")
			if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.fails {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Without a report, the result is the same.
func TestConversionsNeedNoReport(t *testing.T) {
	t.Parallel()
	kind := pair{beta: "{spec: {a: string}}", v1: "{spec: {a: string, owner: string}}"}.kind(t)
	convert(t, kind, head("v1", `,"spec":{"fresh":"x"}`), "v1", "v1beta1")
	tooLarge, err := jsondoc.ParseObject([]byte(head("v1", `,"spec":{"owner":"`+noise(300<<10)+`"}`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := kind.Convert(t.Context(), tooLarge, "v1", "v1beta1"); err == nil {
		t.Error("no error")
	}
}
