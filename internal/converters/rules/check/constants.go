package check

import (
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// constants reports values in the text of a rule that the API server may refuse: those of values,
// defaults and the results of expressions. Values that the schema does not admit at all are
// reported elsewhere.
func (p *pair) constants(r *binding.Rule) {
	for _, s := range sides() {
		for i := range r.Ends[s] {
			t := &target{pair: p, rule: r, side: s, end: &r.Ends[s][i]}
			if literal := r.DefaultOf(s, i); literal != nil {
				t.check(defaultKey(s), constantOf(literal, t.end.Place.Node))
			}
			for _, c := range expressed(r, s) {
				if c.To == i {
					t.check(computeKey(s), c)
				}
			}
			for _, value := range listed(r.Syntax, s) {
				t.check("values", constantOf(&syntax.Literal{Pos: value.Pos, JSON: value.JSON}, t.end.Place.Node))
			}
		}
	}
}

// expressed returns the constants among the results of the expression that computes a side.
func expressed(r *binding.Rule, s binding.Side) []transform.Constant {
	way := r.Transform[s.Other()]
	if way == nil {
		return nil
	}
	return way.Constants
}

// listed returns the values of a side in the tables of a rule.
func listed(r *syntax.Rule, s binding.Side) []syntax.Scalar {
	var values []syntax.Scalar
	add := func(spoke, hub syntax.Scalar) { values = append(values, [...]syntax.Scalar{spoke, hub}[s]) }
	for _, m := range r.Values {
		add(m.From, m.To)
	}
	for _, m := range r.HubValues {
		add(m.To, m.From)
	}
	return values
}

// constantOf returns a literal as a constant of a place.
func constantOf(l *syntax.Literal, node *crdschema.Node) transform.Constant {
	c := transform.Constant{Node: node, Text: l.JSON}
	var add func(l *syntax.Literal, path string)
	add = func(l *syntax.Literal, path string) {
		c.Parts = append(c.Parts, transform.Part{Path: path, Pos: l.Pos, Text: l.JSON, Sized: true})
		for i := range l.Members {
			add(&l.Members[i].Literal, path+"."+l.Members[i].Name)
		}
		for i := range l.Elements {
			add(&l.Elements[i], path+"["+strconv.Itoa(i)+"]")
		}
	}
	add(l, "")
	return c
}

// A target is a path of a rule that constants are for.
type target struct {
	*pair
	rule  *binding.Rule
	side  binding.Side
	end   *binding.Path
	judge *apiserver.Judge // of the last node
	node  *crdschema.Node
}

// check reports what the API server has against a constant that a key of the rule has.
func (t *target) check(key string, c transform.Constant) {
	known := c.Part("")
	if c.Node == nil || known != nil && known.Text != nil && !transform.Admits(c.Node, c.Text) {
		return
	}
	if t.judge == nil || t.node != c.Node {
		judge, err := apiserver.NewJudge(c.Node)
		if err != nil {
			return // the API server does not take the schema either
		}
		t.judge, t.node = judge, c.Node
	}
	for _, refusal := range t.judge.Refusals(c.Text) {
		t.report(key, &c, refusal)
	}
}

func (t *target) report(key string, c *transform.Constant, refusal apiserver.Refusal) {
	version, at := t.Names[t.side], t.end.Name.Path.Text+c.Below+refusal.Path
	part := c.Part(refusal.Path)
	switch {
	case refusal.Lacks:
		if part = holder(c, refusal.Path); part == nil || !part.Sized {
			return
		}
		if key != computeKey(t.side) || t.rule.How == binding.Computes {
			t.warn(part.Pos, "default-lacks-a-field", "give it a value", "%s: %s lacks a field that %s requires, and the API server may refuse it: %s",
				t.rule.Syntax, key, version, at)
			break
		}
		t.say(part.Pos, "result-lacks-a-field", "give it a value", "%s: %s lacks a field that %s requires, so the result is not written: %s",
			t.rule.Syntax, key, version, at)
	case part == nil, refusal.Size && !part.Sized, !refusal.Size && part.Text == nil:
		return // this is about what is not known
	default:
		t.warn(part.Pos, "constant-may-be-refused", "write a value that the schema allows", "%s: %s %s, or the API server may refuse it in %s: %s",
			t.rule.Syntax, culprit(key, part), refusal.Reason, version, at)
	}
	t.findings[len(t.findings)-1].EndColumn = part.EndColumn
}

// holder returns the part of a constant that lacks the field at a path, or nil.
func holder(c *transform.Constant, path string) *transform.Part {
	var found *transform.Part
	for i := range c.Parts {
		p := &c.Parts[i]
		if strings.HasPrefix(path, p.Path+".") && (found == nil || len(p.Path) > len(found.Path)) {
			found = p
		}
	}
	return found
}

// culprit names a part of a constant: a single value by its text.
func culprit(key string, part *transform.Part) string {
	const most = 60
	text := string(part.Text)
	switch {
	case text == "", text[0] == '[', text[0] == '{':
		return "the value of " + key
	case len(text) > most:
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}
