package playground

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// badInput pastes what people paste, and reads what the page says.
func badInput(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	crd, rules := p.value("crd-text"), p.value("rules-text")
	again := func() {
		p.choose("gallery", "widget")
		p.has("#back", "the same object")
	}
	p.write("left-text", "apiVersion: shop.example.com/v1\nkind: [\n")
	p.has("#object-findings", "error, line", "YAML")
	again()
	p.write("left-text", "a: &a ["+strings.Repeat("x, ", 7)+"x]\n"+aliases("abcdefgh"))
	if said := p.text("#object-findings") + p.text("#alert"); !strings.Contains(said, "error") && !strings.Contains(said, "stopped after") {
		t.Errorf("what does the page say about aliases that multiply? %s", said) // a busy machine takes longer than the page allows
	}
	again()
	p.write("rules-text", strings.Replace(rules, "hub: v1", "hub: {v1", 1))
	p.has("#rules-findings", "error, line", "YAML")
	p.has("#right", "not converted: see the findings")
	again()
	before, _, _ := strings.Cut(crd, "  versions:")
	p.write("crd-text", before)
	p.has("#crd-findings", "error", "spec.versions")
	again()
	p.write("crd-text", "hello")
	p.has("#crd-findings", "error")
	again()
	p.write("crd-text", "")
	p.has("#crd-findings", "no CustomResourceDefinition in the text", "kubectl get crd")
	again()
	// An expression that multiplies ten elements with each other ten times.
	bomb := "size(self)"
	for i := range 10 {
		bomb = fmt.Sprintf("[0,1,2,3,4,5,6,7,8,9].map(x%d, %s)[0]", i, bomb)
	}
	p.write("rules-text", strings.Replace(rules, "- {spoke: .spec.colour, hub: .spec.color}",
		"- {spoke: .spec.colour, hub: .spec.color, toHub: 'string("+bomb+")', toSpoke: self}", 1))
	p.write("left-text", "apiVersion: shop.example.com/v1alpha1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 1, colour: red}\n")
	said := p.text("#objects") + p.text("#rules-findings") + p.text("#alert")
	if !strings.Contains(said, "cost") && !strings.Contains(said, "stopped after") && !strings.Contains(said, "not done after") {
		t.Errorf("what does the page say about an expression that costs too much? %s", said)
	}
	again()
	p.write("crd-text", large(t))
	p.write("rules-text", "")
	p.has("#status", "for Widget.shop.example.com.")
	p.has("#rules-findings", "no Conversion")
	t.Logf("a CRD of 1.5 MB: %s", p.text("#status"))
}

// overruns pastes rules whose check takes minutes as WASM. The page ends it, says so, and works on.
func overruns(t *testing.T, browser *chromium, address string) {
	t.Helper()
	p := open(t, browser, address, 1440, 900)
	const before = "    - {spoke: .spec.colour, hub: .spec.color}\n"
	var fields, set, places, uses strings.Builder // a rule set of many rules that many places use
	for i := range 300 {
		fmt.Fprintf(&fields, "f%d: {type: string}, ", i)
		fmt.Fprintf(&set, "    - {spoke: .f%d, hub: .f%d, toHub: \"self + 'x' + string(size(self))\", toSpoke: \"self.replace('x', 'y')\"}\n", i, i)
	}
	for i := range 140 {
		fmt.Fprintf(&places, "              p%d: {type: object, properties: {%s}}\n", i, fields.String())
		fmt.Fprintf(&uses, "    - {spoke: .spec.p%d, hub: .spec.p%d, use: Big}\n", i, i)
	}
	rules := strings.Replace(p.value("rules-text"), before, before+uses.String(), 1)
	costly := map[string]string{
		"crd-text":   strings.ReplaceAll(p.value("crd-text"), "              size:", places.String()+"              size:"),
		"rules-text": strings.Replace(rules, "  hub: v1\n", "  hub: v1\n  ruleSets:\n    Big:\n"+set.String(), 1),
	}
	for id, text := range costly {
		p.run(chromedp.Evaluate(`{ const e = document.getElementById(`+quoted(id)+`); e.value = `+quoted(text)+
			`; e.dispatchEvent(new Event("input", { bubbles: true })); }`, nil))
	}
	began := time.Now()
	p.until(`!document.getElementById("alert").hidden`)
	t.Logf("ended after %s", time.Since(began))
	p.has("#alert", "stopped after 20 s", "make the CRD, the rules or the object smaller")
	p.choose("gallery", "enum")
	p.has("#back", "the same object")
	if !get[bool](p, `document.getElementById("alert").hidden`) {
		t.Errorf("the page still says: %s", p.text("#alert"))
	}
}

// aliases makes a small text that is a huge object.
func aliases(names string) string {
	var b strings.Builder
	for i := 1; i < len(names); i++ {
		fmt.Fprintf(&b, "%c: &%c [%s]\n", names[i], names[i], strings.TrimSuffix(strings.Repeat("*"+names[i-1:i]+", ", 9), ", "))
	}
	return b.String()
}

// readFile reads a file by its path from the root of the repository.
func readFile(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.Join(path...)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// large returns a CRD of 1.5 MB.
func large(t *testing.T) string {
	t.Helper()
	const at = "              size:"
	crd := readFile(t, "examples", "widget", "crd.yaml")
	i := strings.Index(crd, at)
	if i < 0 {
		t.Fatalf("no %q in the CRD", at)
	}
	var more strings.Builder
	for n := 0; more.Len() < 1_500_000-len(crd); n++ {
		fmt.Fprintf(&more, "              field%d: {type: object, description: %q, properties: {a: {type: string}, b: {type: integer}}}\n", n,
			strings.Repeat("A text as CRDs have it. ", 10))
	}
	return crd[:i] + more.String() + crd[i:]
}
