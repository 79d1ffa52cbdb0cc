package rules_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// manyFields returns a pair of versions with rules that rename count fields, plainly or with CEL.
// Its object of v1beta1 has about 3 KB, most of it managedFields.
func manyFields(plain, cel int) (p pair, object []byte) {
	var list []string
	beta, v1, spec := make([]string, 0, 20), make([]string, 0, 20), make([]string, 0, 20)
	for i := range 20 {
		from, to := fmt.Sprintf("oldField%d", i), fmt.Sprintf("newField%d", i)
		switch {
		case i < cel:
			list = append(list, fmt.Sprintf(`- {spoke: .spec.%s, hub: .spec.%s, toHub: 'self + "!"', toSpoke: 'self.replace("!", "")'}`, from, to))
		case i < plain+cel:
			list = append(list, fmt.Sprintf("- {spoke: .spec.%s, hub: .spec.%s}", from, to))
		default:
			to = from
		}
		beta, v1 = append(beta, from+": string"), append(v1, to+": string")
		spec = append(spec, fmt.Sprintf(`%q:"value %d"`, from, i))
	}
	entry := `{"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:image":{},"f:cronSpec":{}}},` +
		`"manager":"kubectl-client-side-apply","operation":"Update","time":"2026-01-02T03:04:05Z"}`
	object = []byte(`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"my-thing","namespace":"default",` +
		`"uid":"c3b1a9d2-6a07-4a0e-9d4f-5a5f5d6a7c11","annotations":{"example.com/owner":"team-a"},"managedFields":[` +
		strings.Repeat(entry+",", 9) + entry + `]},"spec":{` + strings.Join(spec, ",") + `}}`)
	return pair{
		beta: "{spec: {" + strings.Join(beta, ", ") + "}}", v1: "{spec: {" + strings.Join(v1, ", ") + "}}",
		rules: strings.Join(list, "\n"),
	}, object
}

// A slot opens the same object again and again, as the server does, and writes it.
type slot struct {
	doc  jsondoc.Document
	out  jsondoc.Output
	dst  []byte
	text []byte
}

func (s *slot) convert(tb testing.TB, kind *converters.Kind, from, to string) {
	tb.Helper()
	s.doc.Reset(s.text)
	scan, err := s.doc.Scanner(jsondoc.MaxDepth)
	if err != nil {
		tb.Fatal(err)
	}
	outline, err := s.doc.Outline(scan, "metadata", nil)
	if err != nil {
		tb.Fatal(err)
	}
	obj := s.doc.Open(outline)
	if err := kind.Convert(tb.Context(), obj, from, to); err != nil {
		tb.Fatal(err)
	}
	if err := obj.Set(jsondoc.StringValue("example.com/"+to), "apiVersion"); err != nil {
		tb.Fatal(err)
	}
	s.out.Reset(&s.doc)
	s.out.Put(obj.Node)
	s.dst = s.out.AppendTo(s.dst[:0])
}

func BenchmarkConvert(b *testing.B) {
	for _, bench := range []struct {
		name       string
		plain, cel int
		same       bool
	}{
		{name: "identity", same: true},
		{name: "norules"},
		{name: "plain1", plain: 1},
		{name: "plain5", plain: 5},
		{name: "plain20", plain: 20},
		{name: "cel1", cel: 1},
		{name: "cel5", cel: 5},
	} {
		b.Run(bench.name, func(b *testing.B) {
			p, object := manyFields(bench.plain, bench.cel)
			kind := p.kind(b)
			to := "v1"
			if bench.same {
				to = "v1beta1"
			}
			s := slot{text: object}
			b.ReportAllocs()
			b.SetBytes(int64(len(object)))
			for b.Loop() {
				s.convert(b, kind, "v1beta1", to)
			}
		})
	}
}

// The same renames as a user would write them.
func BenchmarkMap(b *testing.B) {
	for _, count := range []int{1, 5, 20} {
		b.Run(fmt.Sprintf("plain%d", count), func(b *testing.B) {
			_, object := manyFields(count, 0)
			b.ReportAllocs()
			b.SetBytes(int64(len(object)))
			for b.Loop() {
				var obj map[string]any
				if err := json.Unmarshal(object, &obj); err != nil {
					b.Fatal(err)
				}
				if spec, ok := obj["spec"].(map[string]any); ok {
					for i := range count {
						from, to := fmt.Sprintf("oldField%d", i), fmt.Sprintf("newField%d", i)
						if v, found := spec[from]; found {
							delete(spec, from)
							spec[to] = v
						}
					}
				}
				obj["apiVersion"] = "example.com/v1"
				if _, err := json.Marshal(obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOmitEmpty leaves empty texts out with omitEmpty and with CEL, for objects whose five
// fields all have a value or are all empty.
func BenchmarkOmitEmpty(b *testing.B) {
	for _, rule := range []struct{ name, keys string }{
		{"plain", ""},
		{"omitEmpty", "omitEmpty: Hub"},
		{"toHub", `toHub: 'self != "" ? optional.of(self) : optional.none()', toSpoke: self`},
		{"whenToHub", `whenToHub: self != ""`},
	} {
		p, object := manyFields(5, 0)
		p.rules = strings.ReplaceAll(p.rules, "}", ", "+rule.keys+"}")
		for name, text := range map[string][]byte{"set": object, "empty": regexp.MustCompile(`"value [0-4]"`).ReplaceAll(object, []byte(`""`))} {
			b.Run(rule.name+"/"+name, func(b *testing.B) {
				s, kind := slot{text: text}, p.kind(b)
				b.ReportAllocs()
				for b.Loop() {
					s.convert(b, kind, "v1beta1", "v1")
				}
			})
		}
	}
}

// BenchmarkKept converts an object with one field that has to be kept, and back with the kept
// value.
func BenchmarkKept(b *testing.B) {
	p, object := manyFields(5, 0)
	p.v1 = strings.Replace(p.v1, ", oldField19: string", "", 1)
	kind := p.kind(b)
	there := []byte(convert(b, kind, string(object), "v1beta1", "v1"))
	for name, test := range map[string]struct {
		text     []byte
		from, to string
	}{"there": {object, "v1beta1", "v1"}, "back": {there, "v1", "v1beta1"}} {
		b.Run(name, func(b *testing.B) {
			s := slot{text: test.text}
			b.ReportAllocs()
			b.SetBytes(int64(len(test.text)))
			for b.Loop() {
				s.convert(b, kind, test.from, test.to)
			}
		})
	}
}

// BenchmarkLoad reads 200 CRDs and 1,000 rules for them, 200 of which are CEL, and checks and
// compiles them as serve does when it starts. HeapSys is the highest size of the heap.
func BenchmarkLoad(b *testing.B) {
	const count = 200
	files, texts := make([]rules.Source, 0, count), make([][]byte, 0, count)
	for i := range count {
		p, _ := manyFields(4, 1)
		plural := fmt.Sprintf("thing%ds", i)
		replace := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("things"), []byte(plural)) }
		files = append(files, rules.Source{Name: plural, Text: replace(p.file())})
		texts = append(texts, replace(p.crd(b)))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // what it is outside of tests
	b.ReportAllocs()
	for b.Loop() {
		var crds []*crdschema.CRD
		for i, text := range texts {
			parsed, err := apiserver.Parse(files[i].Name, text)
			if err != nil {
				b.Fatal(err)
			}
			crds = append(crds, parsed...)
		}
		set, findings := rules.Load(b.Context(), files, crds, rules.Options{})
		checked, _ := check.Check(b.Context(), set.Bound())
		if findings = append(findings, checked...); len(set.Kinds()) != count || len(findings) > 0 {
			b.Fatal(findings)
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	b.ReportMetric(float64(stats.HeapSys)/(1<<20), "HeapSysMiB")
}
