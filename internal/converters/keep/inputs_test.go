package keep

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// The inputs of a value are what the other version shows to its users.
func TestInputs(t *testing.T) {
	t.Parallel()
	const unit, alone = "inUnit", "alone" // a place in a unit, and one that is there in both versions
	for name, test := range map[string]struct {
		of, one, other string // the other version's object
		differ         bool
	}{
		"another value":                    {unit, `{"spec":{"a":{"x":1}}}`, `{"spec":{"a":{"x":2}}}`, true},
		"a value that was not there":       {unit, `{"spec":{}}`, `{"spec":{"a":{}}}`, true},
		"a value of nothing in the unit":   {unit, `{"spec":{"alone":"a"}}`, `{"spec":{"alone":"b"}}`, false},
		"the same values of other places":  {unit, `{"spec":{"a":{"x":1},"c":{"x":2}}}`, `{"spec":{"a":{"x":2},"c":{"x":1}}}`, true},
		"the order of members":             {unit, `{"spec":{"c":{},"a":{"x":1,"y":2}}}`, `{"spec":{"a":{"y":2,"x":1},"c":{}}}`, false},
		"the order of elements":            {unit, `{"spec":{"a":{"l":[1,2]}}}`, `{"spec":{"a":{"l":[2,1]}}}`, true},
		"a number in another spelling":     {unit, `{"spec":{"a":{"x":1}}}`, `{"spec":{"a":{"x":1.0}}}`, false},
		"a text in another spelling":       {unit, `{"spec":{"a":{"s":"a"}}}`, `{"spec":{"a":{"s":"\u0061"}}}`, false},
		"a number and its text":            {unit, `{"spec":{"a":{"s":"1"}}}`, `{"spec":{"a":{"s":1}}}`, true},
		"a default":                        {unit, `{"spec":{}}`, `{"spec":{"d":"x"}}`, false},
		"another value than the default":   {unit, `{"spec":{}}`, `{"spec":{"d":"y"}}`, true},
		"a default in a value":             {unit, `{"spec":{"a":{"x":1}}}`, `{"spec":{"a":{"x":1,"d":"x"}}}`, false},
		"a default in an element":          {unit, `{"spec":{"e":[{}]}}`, `{"spec":{"e":[{"d":"x"}]}}`, false},
		"a key of a map like a default":    {unit, `{"spec":{"a":{"m":{}}}}`, `{"spec":{"a":{"m":{"d":"x"}}}}`, true},
		"only its presence, another value": {unit, `{"spec":{"p":{"x":1}}}`, `{"spec":{"p":{"x":2}}}`, false},
		"only its presence, removed":       {unit, `{"spec":{"p":{"x":1}}}`, `{"spec":{}}`, true},
		"a label":                          {unit, `{"metadata":{"labels":{"a":"b"}}}`, `{"metadata":{"labels":{"a":"c"}}}`, true},
		"no labels and none":               {unit, `{"metadata":{"labels":{}}}`, `{"metadata":{}}`, false},
		"webhookd's own label":             {unit, `{"metadata":{"labels":{"conversion.webhookd.io/v1.a":"b"}}}`, `{}`, false},

		"the counterpart, another value":         {alone, `{"spec":{"alone":"a"}}`, `{"spec":{"alone":"b"}}`, true},
		"the counterpart, removed":               {alone, `{"spec":{"alone":"a"}}`, `{"spec":{}}`, true},
		"the counterpart, its default":           {alone, `{"spec":{}}`, `{"spec":{"alone":"x"}}`, false},
		"a place that is not of the counterpart": {alone, `{"spec":{"d":"a"}}`, `{"spec":{"d":"b"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, other := inputsTest(t, test.of, test.one, 0), inputsTest(t, test.of, test.other, 0)
			if (one.Sum != other.Sum) != test.differ {
				t.Errorf("inputs %v and %v", one, other)
			}
			if later := inputsTest(t, test.of, test.one, 1); later.Sum != one.Sum {
				t.Errorf("a place that a rule reads later and that shows nothing makes %v of %v", later, one)
			}
		})
	}
}

// inputsTest returns the inputs of a value, where the other version shows y, for rules that read
// some places more.
func inputsTest(t *testing.T, of, y string, more int) annotation.Digest {
	t.Helper()
	schemas := crdschematest.Roots(t, `
inUnit: {type: string}
alone: {type: string}
`, `
a: {type: object, properties: {x: {type: integer}, "y": {type: integer}, s: {x-kubernetes-int-or-string: true}, l: {type: array, items: {type: integer}}, d: {type: string, default: x}, m: {type: object, additionalProperties: {type: string}}}}
c: {type: object, properties: {x: {type: integer}}}
d: {type: string, default: x}
e: {type: array, items: {type: object, properties: {d: {type: string, default: x}}}}
p: {type: object, properties: {x: {type: integer}}}
alone: {type: string, default: x}
later: {type: string}
`)
	spec := schemas[1].Property("spec")
	names := []string{"a", "c", "d", "e", "p", "later"}[:5+more]
	members := make([]Member, 0, 1+len(names))
	members = append(members, Member{Path: pathOf("metadata", "labels"), FromRoot: true})
	for _, name := range names {
		members = append(members, Member{Path: pathOf("spec", name), PresenceOnly: name == "p", Schema: spec.Property(name)})
	}
	place := &Place{Moved: true, Unit: NewUnit("unit", []Member{{Path: pathOf("spec", "inUnit")}}, members)}
	l := &Layout{
		Schema: schemas[0], Other: schemas[1],
		Root: &Place{Scope: true, Members: map[string]*Place{"spec": {Members: map[string]*Place{"inUnit": place}}}},
	}
	nothing := parseTest(t, `{}`)
	w := newWalker(t.Context(), &Memory{}, nothing)
	w.push(annotation.PathElement{Name: "spec"}, nil)
	w.push(annotation.PathElement{Name: of}, nil)
	c := l.root(nothing, parseTest(t, y), nil).member("spec", 1, nil, nil).member(of, 2, nil, nil)
	is := w.inputs(nil, c, &annotation.Entry{Value: []byte("1")})
	if w.err != nil {
		t.Fatal(w.err)
	}
	return is
}

// An object that is kept without anything in it depends on the presence of its counterpart alone.
func TestInputsOfAPresence(t *testing.T) {
	t.Parallel()
	of := func(value, y string) annotation.Digest {
		w := newWalker(t.Context(), &Memory{}, parseTest(t, `{}`))
		w.push(annotation.PathElement{Name: "o"}, nil)
		return w.inputs(nil, (&Layout{}).root(nil, parseTest(t, y), nil).member("o", 1, nil, nil), &annotation.Entry{Value: []byte(value)})
	}
	const one, other = `{"o":{"a":1}}`, `{"o":{"a":2}}`
	if of(`{}`, one) != of(`{}`, other) || of(`{}`, one) == of(`{}`, `{}`) {
		t.Error("an object depends on what is in its counterpart")
	}
	if of(`1`, one) == of(`1`, other) {
		t.Error("a value does not depend on its counterpart")
	}
}

func nodeOf(tb testing.TB, text string) *jsondoc.Node {
	tb.Helper()
	n, err := parsed([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return n
}
