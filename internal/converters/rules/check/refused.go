package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// handed compares a place that is handed on with its counterpart, and with deep all that is in
// them: defaults, the keys of lists, and which values the target's schema refuses.
func (w *walker) handed(v visit, deep bool) {
	pos := w.Version.Pos
	if v.via != nil {
		pos = posOf(v.via, w.src)
	}
	// The API server itself bounds labels.
	silent := w.atoms != nil || w.muted > 0 || isRoot(v.binding, w.src, v.path, v.src.Node) || strings.HasPrefix(w.placeOf(v).from, ".metadata.")
	look := func(at place, src, dst *crdschema.Node) {
		w.filled.look(at, src, dst)
		if w.src == binding.OfSpoke {
			w.subset(w.Version.Pos, [2][]string{src.ListMapKeys(), dst.ListMapKeys()}, [2]string{at.from, at.to})
		}
		if example := refused(src, dst); example != "" && !silent {
			w.note(pos, "narrower-schema", "relax the schema of "+w.Names[w.dst]+", or convert the value",
				"%s -> %s: %s may be %s, which %s refuses: an update that leaves it as it is passes, the first write that changes it is refused",
				w.Names[w.src], w.Names[w.dst], at.from, example, w.Names[w.dst])
			w.about(at.from)
		}
	}
	if deep {
		w.placeOf(v).each(v.src.Node, v.dst.Node, look)
	} else if v.src.Node != nil && v.dst.Node != nil {
		look(w.placeOf(v), v.src.Node, v.dst.Node)
	}
}

// refused describes a value that a source allows and a target does not by its bounds, its pattern,
// its format or a rule in CEL; "" if there is none. Types, enums and required fields have findings
// of their own.
func refused(src, dst *crdschema.Node) string {
	a, b := validations(src), validations(dst)
	switch {
	case lower(b.MaxLength, a.MaxLength):
		return fmt.Sprintf("a text of %d characters", *b.MaxLength+1)
	case higher(b.MinLength, a.MinLength):
		return fmt.Sprintf("a text of %d characters", *b.MinLength-1)
	case b.Pattern != "" && b.Pattern != a.Pattern:
		return "a text that " + b.Pattern + " does not match"
	case b.Format != "" && b.Format != a.Format && src.Kind() == crdschema.String:
		return "a text in another format than " + b.Format
	case lower(b.Maximum, a.Maximum):
		return strconv.FormatFloat(*b.Maximum+1, 'f', -1, 64)
	case higher(b.Minimum, a.Minimum):
		return strconv.FormatFloat(*b.Minimum-1, 'f', -1, 64)
	case lower(b.MaxItems, a.MaxItems):
		return fmt.Sprintf("a list of %d elements", *b.MaxItems+1)
	case higher(b.MinItems, a.MinItems):
		return fmt.Sprintf("a list of %d elements", *b.MinItems-1)
	case lower(b.MaxProperties, a.MaxProperties):
		return fmt.Sprintf("an object of %d fields", *b.MaxProperties+1)
	case higher(b.MinProperties, a.MinProperties):
		return fmt.Sprintf("an object of %d fields", *b.MinProperties-1)
	case dst.ListType() == "set" && src.ListType() != "set" && src.ListType() != "map":
		return "a list with one value twice"
	}
	for _, rule := range dst.Structural().XValidations {
		has := func(o apiextensionsv1.ValidationRule) bool { return o.Rule == rule.Rule }
		if !strings.Contains(rule.Rule, "oldSelf") && !slices.ContainsFunc(src.Structural().XValidations, has) {
			return "one for which `" + rule.Rule + "` is false"
		}
	}
	return ""
}

func validations(n *crdschema.Node) schema.ValueValidation {
	if v := n.Structural().ValueValidation; v != nil {
		return *v
	}
	return schema.ValueValidation{}
}

// lower reports whether an upper bound is lower than another one; nil is none.
func lower[T cmp.Ordered](bound, other *T) bool {
	return bound != nil && (other == nil || *bound < *other)
}

// higher reports whether a lower bound is higher than another one.
func higher[T cmp.Ordered](bound, other *T) bool {
	return bound != nil && (other == nil || *bound > *other)
}

// constants reports values in the text of a rule that the API server may refuse: those of values,
// defaults and the results of expressions. Values that the schema does not admit at all are
// reported elsewhere.
func (p *pair) constants(b *binding.Binding, r *binding.Rule) {
	for _, s := range sides() {
		for i := range r.Ends[s] {
			t := &target{pair: p, rule: r, side: s, end: &r.Ends[s][i]}
			if literal := r.DefaultOf(s, i); literal != nil {
				p.checkDefault(r, s, t.end.Place.Node, literal, b.Text(s, t.end.Segments))
				t.check(defaultKey(s), constantOf(literal, t.end.Place.Node))
			}
			if way := r.Transform[s.Other()]; way != nil {
				for _, c := range way.Constants {
					if c.To == i {
						t.check(computeKey(s), c)
					}
				}
			}
			for _, value := range listed(r.Syntax, s) {
				t.check("values", constantOf(&syntax.Literal{Pos: value.Pos, JSON: value.JSON}, t.end.Place.Node))
			}
		}
	}
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
