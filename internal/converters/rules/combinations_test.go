package rules_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

//nolint:gochecknoglobals // flags
var (
	firstCombination = flag.Uint64("first-combination", 1, "seed of the first random combination of rules")
	combinations     = flag.Uint64("combinations", 20, "how many random combinations of rules are held to the laws; make laws takes 120, and a change to the engine deserves 5,000")
)

// Rules that pick elements, have conditions, keep what they cannot convert and fill in defaults
// hold the laws together.
func TestLawsOnRandomCombinations(t *testing.T) {
	t.Parallel()
	var tried uint64
	for seed := *firstCombination; seed < *firstCombination+*combinations; seed++ {
		c := combination{r: rand.New(rand.NewPCG(seed, 2))} //nolint:gosec // choices that can be repeated
		p := c.pair()
		crds, err := apiserver.Parse("crd.yaml", p.crd(t))
		if err != nil {
			t.Fatal(err)
		}
		set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: p.file()}}, crds, rules.Options{})
		if len(findings) > 0 {
			continue
		}
		tried++
		suite := hold.Suite{Kind: &set.Kinds()[0], Seed: seed, CRD: crds[0], Stored: true, Walks: true, Forgeries: true}
		if _, err := suite.Fuzz(t.Context(), *objects); err != nil {
			t.Errorf("-first-combination=%d: v1beta1 %s, v1 %s\n%s\n%v", seed, p.beta, p.v1, p.rules, err)
		}
	}
	if tried < *combinations*3/4 {
		t.Errorf("%d of %d combinations have no findings: the test has lost its power", tried, *combinations)
	}
}

// A combination makes two versions and rules between them. Sides are 0 for v1beta1 and 1 for v1.
type combination struct {
	r      *rand.Rand
	fields [2]map[string][]string // the members of objects, by the name of the object
	places [2][]string            // that conditions may read
	texts  [2][]string            // of these, the strings
	list   bool
	rules  []string
	names  int
}

func (c *combination) pick(of ...string) string { return of[c.r.IntN(len(of))] }
func (c *combination) chance(n int) bool        { return c.r.IntN(n) == 0 }

func (c *combination) say(format string, args ...any) {
	c.rules = append(c.rules, "- {"+fmt.Sprintf(format, args...)+"}")
}

// field adds a field to a version, at the root or in an object, and returns its path.
func (c *combination) field(side int, of string) string {
	return c.fieldIn(side, c.pick("", "", "o", "p"), of)
}

func (c *combination) fieldIn(side int, in, of string) string {
	c.names++
	name := fmt.Sprintf("f%d", c.names)
	c.fields[side][in] = append(c.fields[side][in], name+": '"+of+"'")
	path := "." + name
	if in != "" {
		path = "." + in + path
		c.places[side] = append(c.places[side], "."+in)
	}
	c.places[side] = append(c.places[side], path)
	if strings.HasPrefix(of, "string") || strings.HasPrefix(of, "enum") {
		c.texts[side] = append(c.texts[side], path)
	}
	return path
}

func (c *combination) pair() pair {
	c.fields = [2]map[string][]string{{}, {}}
	features := []func(){c.fails, c.oneSided, c.apart, c.values, c.plain, c.defaults, c.computes, c.picks, c.conditional, c.whole}
	c.r.Shuffle(len(features), func(i, j int) { features[i], features[j] = features[j], features[i] })
	for _, f := range features[:2+c.r.IntN(3)] {
		f()
	}
	c.conditional()
	c.r.Shuffle(len(c.rules), func(i, j int) { c.rules[i], c.rules[j] = c.rules[j], c.rules[i] })
	return pair{beta: c.schema(0), v1: c.schema(1), rules: strings.Join(c.rules, "\n")}
}

func (c *combination) schema(side int) string {
	members := slices.Clone(c.fields[side][""])
	for _, in := range []string{"l", "m"} {
		if fields := c.fields[side][in]; fields != nil {
			members = append(members, in+": [{id: enum x y z, "+strings.Join(fields, ", ")+"}, id]")
		}
	}
	for _, in := range []string{"o", "p"} {
		if fields := c.fields[side][in]; fields != nil {
			members = append(members, in+": {"+strings.Join(fields, ", ")+"}")
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func (c *combination) fails() {
	c.say("spoke: %s, hub: %s, toHub: int(self), toSpoke: string(self)", c.field(0, "string"), c.field(1, "integer"))
}

// oneSided is a field of one version.
func (c *combination) oneSided() {
	side, of := c.r.IntN(2), c.pick("string", "integer", `string = "A"`)
	in := c.pick("", "", "o", "p")
	if strings.Contains(of, "=") {
		in = "" // in an object that a kept value makes again, the default would look like an edit
	}
	path := c.fieldIn(side, in, of)
	c.say("%s: %s", [...]string{"spoke", "hub"}[side], path)
}

// apart is a field of the same path in both versions that is not the same. One with a default is
// not in an object, as for oneSided.
func (c *combination) apart() {
	c.names++
	in, name := c.pick("", "o"), fmt.Sprintf("f%d", c.names)
	path := strings.ReplaceAll("."+in+"."+name, "..", ".")
	types := [2]string{"string", c.pick("string", "integer")}
	if in == "" {
		types = [2]string{c.pick("string", `string = "a"`), c.pick("string", "integer", `string = "b"`)}
	}
	for side, of := range types {
		c.fields[side][in] = append(c.fields[side][in], name+": '"+of+"'")
		c.say("%s: %s", [...]string{"spoke", "hub"}[side], path)
	}
}

// whole is an object or a list that conditions allow, and perhaps a pair in it.
func (c *combination) whole() {
	c.names++
	name := fmt.Sprintf("w%d", c.names)
	shapes := []struct{ of, step string }{
		{"{a: string, %s: %s}", "."}, {"[{id: enum x y z, a: string, %s: %s}, id]", "[]."}, {"[{a: string, %s: %s}]", "[]."}, {"[string]", ""},
	}
	shape, ends := shapes[c.r.IntN(len(shapes))], [2]string{"." + name, "." + name}
	if c.chance(3) {
		ends[1] = ".v" + name
	}
	types := [][2]string{{"string", "string"}, {"string", "integer"}, {"enum A B", "enum X Y"}}
	n := c.r.IntN(len(types))
	for side, part := range []string{"b", "c"} {
		of := shape.of
		if shape.step != "" {
			of = fmt.Sprintf(of, part, types[n][side])
		}
		c.fields[side][""] = append(c.fields[side][""], ends[side][1:]+": "+of)
		c.places[side] = append(c.places[side], ends[side])
	}
	if shape.step != "" {
		how := []string{"", ", toHub: int(self), toSpoke: string(self)", ", values: {A: X, B: X}, hubValues: {Y: A}"}[n]
		c.say("spoke: '%s%sb', hub: '%s%sc'%s", ends[0], shape.step, ends[1], shape.step, how)
	}
	c.say("spoke: %s, hub: %s, %s", ends[0], ends[1], c.when())
}

func (c *combination) values() {
	c.say("spoke: %s, hub: %s, values: %s", c.field(0, "enum A B C"), c.field(1, "enum X Y Z"),
		c.pick("{A: X, B: X, C: Y}, hubValues: {Z: C}", "{A: X, B: null, C: Y}, hubValues: {Z: null}", "{A: X, B: Y, C: null}, hubValues: {Z: A}"))
}

func (c *combination) plain() {
	c.say("spoke: %s, hub: %s", c.field(0, "string"), c.field(1, "string"))
}

// defaults is a pair with defaults, which other values do not take along.
func (c *combination) defaults() {
	c.say("spoke: %s, hub: %s, codec: String, %s", c.fieldIn(0, "", "integer"), c.fieldIn(1, "", "string"),
		c.pick(`defaultInHub: "1"`, "defaultInSpoke: 3", `defaultInHub: "2", defaultInSpoke: 2`))
}

// conditional is a pair that conditions allow.
func (c *combination) conditional() {
	when := c.when() // reads other fields
	c.say("spoke: %s, hub: %s, %s", c.field(0, "string"), c.field(1, "string"), when)
}

// when is a condition of a rule, of one direction or both.
func (c *combination) when() string {
	toHub, toSpoke := "whenToHub: "+c.condition(0), "whenToSpoke: "+c.condition(1)
	return c.pick(toHub, toSpoke, toHub+", "+toSpoke)
}

// condition reads a place of a side.
func (c *combination) condition(side int) string {
	const of = "object"
	if len(c.texts[side]) == 0 || c.chance(8) {
		return "'false'"
	}
	has := func(path string) string {
		if i := strings.LastIndex(path, "."); i > 0 {
			return "has(" + of + path[:i] + ") && has(" + of + path + ")"
		}
		return "has(" + of + path + ")"
	}
	optional := func(path string) string { return strings.ReplaceAll(path, ".", ".?") }
	switch c.r.IntN(4) {
	case 0:
		return "'" + has(c.pick(c.places[side]...)) + "'"
	case 1:
		return "'!(" + has(c.pick(c.places[side]...)) + ")'"
	}
	return "'" + of + optional(c.pick(c.texts[side]...)) + `.orValue("") ` + c.pick("==", "!=") + ` "` + c.pick("", "A", "X") + `"'`
}

// computes is a field that the other version has not, and that is computed for this one.
func (c *combination) computes() {
	if c.chance(2) {
		c.say("spoke: %s, toSpoke: %s", c.fieldIn(0, "", c.pick("boolean", "boolean = false")), c.condition(1))
		return
	}
	c.say("hub: %s, toHub: %s", c.fieldIn(1, "", c.pick("boolean", "boolean = false")), c.condition(0))
}

// picks is a field of one element, and what else the elements have.
func (c *combination) picks() {
	if c.list {
		return
	}
	c.list = true
	side := c.r.IntN(2)
	lists := [2]string{"l", c.pick("l", "l", "m")}
	for s := range lists {
		c.fields[s][lists[s]] = []string{"same: string"}
	}
	c.fields[side][lists[side]] = append(c.fields[side][lists[side]], "key: string")
	ends := [2]string{}
	ends[side], ends[1-side] = "."+lists[side]+"[id="+c.pick("x", "y")+"].key", c.field(1-side, "string")
	c.say("spoke: '%s', hub: '%s'", ends[0], ends[1])
	c.places[0], c.places[1] = append(c.places[0], "."+lists[0]), append(c.places[1], "."+lists[1])
	if lists[0] == lists[1] && c.chance(4) {
		return
	}
	types := [][2]string{{"string", "string"}, {"string", "integer"}, {"enum A B", "enum X Y"}}
	for i := range 1 + c.r.IntN(2) {
		n := c.r.IntN(len(types))
		for s, name := range []string{"a", "b"} {
			c.fields[s][lists[s]] = append(c.fields[s][lists[s]], fmt.Sprintf("%s%d: %s", name, i, types[n][s]))
		}
		how := [][]string{
			{"", ", whenToHub: 'false'", ", whenToSpoke: '!has(element.same)'", ", whenToHub: '!has(element.same)'"},
			{", toHub: int(self), toSpoke: string(self)"},
			{", values: {A: X, B: X}, hubValues: {Y: A}", ", values: {A: X, B: null}, hubValues: {Y: null}"},
		}[n]
		c.say("spoke: '.%s[id].a%d', hub: '.%s[id].b%d'%s", lists[0], i, lists[1], i, c.pick(how...))
	}
	if c.chance(3) {
		c.fields[1-side][lists[1-side]] = append(c.fields[1-side][lists[1-side]], "only: string")
	}
}
