//go:build !race

// Under the race detector, pools drop objects at random, so memory cannot be measured.

package transform_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// The sizes of bombs. An object may have some MiB.
const (
	mib         = 1 << 20
	mostOfABomb = 64 * mib // allocated from begin to end, garbage included
	costs       = "error: the expression costs more than 1000000 units"
	large       = "error: the result is too large"
)

func letters(n int) string { return `"` + strings.Repeat("a", n) + `"` }

// numbered returns a list of n different texts.
func numbered(n int) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf(`"n%d"`, i)
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// A bomb is an expression of .spec.s, a text, or .spec.l, a list, that would take minutes or
// gigabytes for a value.
type bomb struct{ name, field, text, in, object, want string }

func bombs() []bomb {
	spec := func(s string) string { return `{"spec":{"s":` + s + `}}` }
	doubled := "self"
	for range 6 {
		doubled = "(" + doubled + " + " + doubled + ")"
	}
	return []bomb{
		{"loops in loops", "l", `self.map(a, self.map(b, self.map(c, 1).sum()).sum()).sum()`, numbered(120), "", costs},
		{"loops over a map in loops", "m", `self.all(a, self.all(b, self.all(c, a + b != c)))`, `{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":"","j":"",` + manyMembers(200) + `}`, "", costs},
		{"doubling a text", "s", doubled, letters(mib), "", costs},
		{"doubling a list", "l", doubled, numbered(50_000), "", large},
		{"copies in a list", "s", `lists.range(100).map(i, self)`, letters(mib / 8), "", large},
		{"copies in a map", "s", `lists.range(100).transformMapEntry(i, v, {string(i): self})`, letters(mib / 8), "", large},
		{"replace nothing by a long text", "s", `self.replace("", self).size()`, letters(100_000), "", costs},
		{"replace each letter by a long text", "s", `self.replace("a", self).size()`, letters(100_000), "", costs},
		{"replace some letters by a long text", "s", `self.replace("a", self, 50000).size()`, letters(100_000), "", costs},
		{"replace in a loop", "s", `lists.range(1000).map(i, self.replace("a", "bb")).size()`, letters(100_000), "", costs},
		{"letters one by one", "s", `self.split("").size()`, letters(mib), "", costs},
		{"words one by one", "s", `self.split("a").size()`, letters(mib), "", costs},
		{"join by a long text", "l", `self.join(object.spec.s).size()`, numbered(50_000), spec(letters(mib)), costs},
		{"join copies", "l", `self.map(x, object.spec.s).join().size()`, numbered(1000), spec(letters(mib)), costs},
		{"format copies", "l", `"%s".format([self.map(x, object.spec.s)]).size()`, numbered(1000), spec(letters(mib)), costs},
		{"look for a long text", "s", `self.indexOf(object.spec.s)`, letters(mib / 2), spec(letters(mib / 4)[:mib/4] + `b"`), costs},
		{"look for a long text from the end", "s", `self.lastIndexOf(object.spec.s)`, letters(mib / 2), spec(`"b` + letters(mib / 4)[1:]), costs},
		{"characters one by one", "s", `lists.range(50000).map(i, self.charAt(i)).size()`, letters(mib), "", costs},
		{"substrings one by one", "s", `lists.range(50000).map(i, self.substring(i)).size()`, letters(mib), "", costs},
		{"sizes one by one", "s", `lists.range(100000).all(i, size(self) > i)`, letters(mib), "", costs},
		{"sets of many", "l", `sets.equivalent(self, self)`, numbered(50_000), "", costs},
		{"sets with nothing in common", "l", `sets.intersects(self, self.map(x, x + "x"))`, numbered(20_000), "", costs},
		{"distinct values of many", "l", `self.distinct().size()`, numbered(50_000), "", costs},
		{"a list of itself, flat", "l", `self.map(x, self).flatten().size()`, numbered(20_000), "", costs},
		{"a range of many", "s", `lists.range(5000000).size()`, letters(1), "", costs},
		{"a quantity of many digits", "s", `quantity(self).asInteger()`, `"1e999999999"`, "", "error: the expression fails for the value"},
	}
}

func manyMembers(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	return strings.Join(members, ",")
}

// patterns are regular expressions for a text of 1 MiB. A matcher that backtracks would take years,
// and one that tracks all states at once a minute.
func patterns() []bomb {
	matches := func(name, pattern string) bomb {
		return bomb{name, "s", `self.matches("` + pattern + `")`, letters(mib), "", costs}
	}
	spec := func(pattern string) string { return `{"spec":{"s":"` + pattern + `"}}` }
	return []bomb{
		matches("plus in plus", `(a+)+$`),
		matches("choice of the same", `(a|aa)+$`),
		matches("choice of nothing", `(a|a?)+$`),
		matches("anything, many times", `(.*a){20}b`),
		matches("words of words", `^(([a-z])+.)+[A-Z]([a-z])+$`),
		matches("plus next to plus", `(a+a+)+y`),
		matches("as many that may be as must be", `(a?){500}a{500}b`),
		matches("repetition of repetitions", `((a{100}){10})b`),
		{"find", "s", `self.find("(a*)*b")`, letters(mib), "", costs},
		{"find all", "s", `self.findAll("a?").size()`, letters(mib), "", costs},
		{"pattern of the object", "s", `self.matches(object.spec.s)`, letters(mib), spec(strings.Repeat("a?", 200) + strings.Repeat("a", 200) + "b"), costs},
		{"large pattern of the object", "s", `self.matches(object.spec.s)`, letters(mib), spec(strings.Repeat("(a|b)?", 100_000)), costs},
	}
}

// No expression takes long, or much memory, whatever the object. Its cost is bounded by a check
// before each call whose cost is not proportional to its arguments.
func TestBombs(t *testing.T) { //nolint:paralleltest // memory is measured
	env := newEnv(t, nil)
	s := schemas{
		"s: {type: string}\nl: {type: array, items: {type: string}}\nm: {type: object, additionalProperties: {type: string}}",
		"b: {x-kubernetes-preserve-unknown-fields: true}",
	}
	all := append(bombs(), patterns()...)
	if len(all) != 38 {
		t.Errorf("%d bombs", len(all))
	}
	for _, b := range all {
		compiled, findings := compile(t, env, s, "{spoke: .spec."+b.field+", hub: .spec.b, toSpoke: self, toHub: '"+b.text+"'}")
		for _, f := range findings {
			if f.Code != "expression-result" && f.Code != "expression-cost" { // toSpoke is not of interest, and some are found out at once
				t.Errorf("%s: %v", b.name, f)
			}
		}
		in := operands(t, b.in)
		call := &transform.Call{Context: t.Context(), Source: source(b.object)}
		out := make([]transform.Operand, 1)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := compiled[0].Run(call, in, out)
		runtime.ReadMemStats(&after)
		if got := fmt.Sprintf("error: %v", err); got != b.want || out[0].Present {
			t.Errorf("%s: got %.100s, %.100s, want %s", b.name, got, show(out), b.want)
		}
		if spent := call.Spent(); spent > mostCost {
			t.Errorf("%s costs %d units", b.name, spent)
		}
		if size := after.TotalAlloc - before.TotalAlloc; size > mostOfABomb {
			t.Errorf("%s takes %d MiB", b.name, size/mib)
		}
	}
}

// The same expressions work for objects of the usual size.
func TestBombsOfUsualSizeConvert(t *testing.T) {
	t.Parallel()
	env := newEnv(t, nil)
	s := schemas{"s: {type: string}\nl: {type: array, items: {type: string}}\np: {type: string}", "b: {x-kubernetes-preserve-unknown-fields: true}"}
	const object = `{"spec":{"s":"-","p":"(a+)+b"}}`
	for text, want := range map[string]string{
		`self.replace("a", object.spec.s, 2)`: `"--aaa"`, `self.split("a", 2)`: `["","aaaa"]`, `self.split("")`: `["a","a","a","a","a"]`, `self.replace("", "b")`: `"bababababab"`,
		`self.matches("(a?){500}a{5}$")`: `true`, `self.matches(object.spec.p)`: `false`, `self.find("a{2}")`: `"aa"`, `self.findAll("a").size()`: `5`,
		`self.findAll("a", 2).size()`: `2`, `self.indexOf("aa")`: `0`, `self.indexOf("aa", 2)`: `2`, `self.lastIndexOf("aa")`: `3`, `self.charAt(1)`: `"a"`,
		`self.split("").join(object.spec.s)`: `"a-a-a-a-a"`, `self.split("").join()`: `"aaaaa"`, `self.split("").distinct()`: `["a"]`, `matches(self, "^a+$")`: `true`,
		`"%s: %d".format([self, size(self)])`: `"aaaaa: 5"`, `"%.2f".format([1.5])`: `"1.50"`, `sets.contains([1, 2], [2])`: `true`, `[[1], [[2]]].flatten()`: `[1,[2]]`,
		`[[1], [[2]]].flatten(2)`: `[1,2]`, `int(math.round(double(size(self)) / 2.0))`: `3`, `math.greatest(1, size(self))`: `5`, `lists.range(3)`: `[0,1,2]`, `sets.intersects(["a"], self.split(""))`: `true`, `[1, 2].indexOf(2)`: `1`,
		`sets.equivalent(["a"], self.split(""))`: `true`, `"a,b".split(",").map(x, x.replace("b", self).replace("a", x)).join("+").matches("^a.a+$")`: `false`,
	} {
		compiled := mustCompile(t, env, s, "{spoke: .spec.s, hub: .spec.b, toSpoke: '\"\"', toHub: '"+text+"'}")
		if got := run(t, compiled, false, object, letters(5), 1); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
