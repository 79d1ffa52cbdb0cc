package window_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/examples/customserver/window"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

func TestWindow(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, days, start string
	}{
		{"a range", `"Mon-Fri 02:00"`, `["Mon","Tue","Wed","Thu","Fri"]`, `"02:00"`},
		{"a list", `"Sat,Sun 23:30"`, `["Sat","Sun"]`, `"23:30"`},
		{"one day", `"Wed 00:00"`, `["Wed"]`, `"00:00"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := window.Function()
			parts, err := f.ToHub(t.Context(), operands(t, test.text))
			if err != nil {
				t.Fatal(err)
			}
			if days, start := string(parts[0].Value.Text()), string(parts[1].Value.Text()); days != test.days || start != test.start {
				t.Errorf("to the hub: %s, %s", days, start)
			}
			whole, err := f.ToSpoke(t.Context(), parts)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(whole[0].Value.Text()); got != test.text {
				t.Errorf("from the hub: %s, want %s", got, test.text)
			}
		})
	}
}

func TestTextsThatAreNotWindows(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"daily"`, `"Fri-Mon 02:00"`, `"Mon-Fri"`, `"Mon,Day 02:00"`, `""`, `null`, `7`} {
		if _, err := window.Function().ToHub(t.Context(), operands(t, text)); err == nil {
			t.Errorf("%s was converted", text)
		}
	}
	if _, err := window.Function().ToSpoke(t.Context(), append(operands(t, `["Mon"]`), transform.Operand{})); err == nil {
		t.Error("days without a start were converted")
	}
	if out, err := window.Function().ToHub(t.Context(), make([]transform.Operand, 1)); err != nil || out[0].Present || out[1].Present {
		t.Error("of nothing came something")
	}
}

// The rules keep values that the function does not restore.
func TestLawsWithRules(t *testing.T) {
	t.Parallel()
	const folder = "../../../examples/maintenance-window/"
	read := func(file string) []byte {
		text, err := os.ReadFile(folder + file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	crds, err := crdschema.Parse("crd.yaml", read("crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: read("rules.yaml")}}, crds,
		rules.Options{Go: map[string]transform.GoFunc{"example.com/window": window.Function()}})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	objects := make([][]byte, 0, 8)
	for _, spec := range []string{
		`{"window":"Mon-Fri 02:00"}`, `{"window":"Mon,Tue,Wed 02:00"}`, `{"window":"daily"}`, `{"window":""}`, `{}`,
	} {
		objects = append(objects, []byte(`{"apiVersion":"example.com/v1beta1","kind":"Backup","metadata":{"name":"a"},"spec":`+spec+`}`))
	}
	for _, spec := range []string{`{"window":{"days":["Sun"],"start":"02:00"}}`, `{"window":{"days":["Sun"]}}`, `{"window":{}}`} {
		objects = append(objects, []byte(`{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"name":"a"},"spec":`+spec+`}`))
	}
	if set.Kinds()[0].Interruptible() {
		t.Error("a kind whose rules call functions in Go counts as one that looks at its context")
	}
	suite := roundtrip.Suite{Kind: &set.Kinds()[0], CRD: crds[0]}
	if err := suite.Check(t.Context(), slices.Values(objects)); err != nil {
		t.Error(err)
	}
}

func TestHowToShowsThisCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/how-to/go-beyond-rules.md")
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, file := range []string{"window.go", "../gokinds/functions.go", "../../../examples/maintenance-window/rules.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	blocks := 0
	for rest := string(page); ; blocks++ {
		_, after, found := strings.Cut(rest, "\n```go\n")
		if !found {
			break
		}
		block, end, _ := strings.Cut(after, "```")
		if rest = end; !strings.Contains(code, block) {
			t.Errorf("the page shows what is not in the files:\n%s", block)
		}
	}
	if blocks < 3 {
		t.Errorf("%d blocks of Go, want 3 or more", blocks)
	}
}

func operands(t *testing.T, text string) []transform.Operand {
	t.Helper()
	value, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return []transform.Operand{{Value: value, Present: true}}
}
