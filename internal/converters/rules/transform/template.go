package transform

import (
	"errors"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A pattern is a template: a prefix, then parts, each with the literal that follows it.
type pattern struct {
	prefix    string
	parts     []part
	absent    string
	hasAbsent bool
}

type part struct {
	path  int // of the named side
	node  *crdschema.Node
	after string
}

// template compiles `template` and `absent`: a text on one side, its parts on the other.
func (c *compiler) template() Transform {
	parts, text := &c.hub, &c.spoke
	if c.spoke.named() {
		parts, text = text, parts
	}
	if !parts.named() || !text.single() {
		return Transform{} // the parser reports it
	}
	p := c.pattern(parts)
	c.checkTemplateTypes(parts, text)
	if p == nil {
		return Transform{}
	}
	join := &Way{run: p.join, Injective: p.joinInjective(), Total: p.joinTotal(text.node())}
	split := &Way{run: p.split, Injective: true}
	if parts == &c.spoke {
		return c.checked(join, split)
	}
	return c.checked(split, join)
}

func (c *compiler) checkTemplateTypes(parts, text *side) {
	switch text.node().Kind() {
	case crdschema.String, crdschema.IntOrString, crdschema.Any, crdschema.None:
	default:
		c.say(text.place.Pos, "template-of-no-string", "a template is the text of a string",
			"%s is %s, and a template makes a string", text.path(0), text.node().Kind())
	}
	for i, node := range parts.nodes {
		switch node.Kind() {
		case crdschema.Object, crdschema.Map, crdschema.Array:
			c.say(parts.place.Paths[i].Pos, "template-part-of-no-text", "name its fields, or use codec: JSON, or toHub and toSpoke",
				"%s is %s, which cannot be part of a text", parts.path(i), node.Kind())
		default:
		}
	}
}

// pattern parses the template. It returns nil if there are findings.
func (c *compiler) pattern(parts *side) *pattern {
	before := len(c.findings)
	t, text := c.rule.Template, c.rule.Template.Value
	p := &pattern{}
	if c.rule.Absent != nil {
		p.absent, p.hasAbsent = c.rule.Absent.Value, true
	}
	var literal strings.Builder
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			literal.WriteByte(text[i])
			i += 2
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 0 {
				c.sayText(t, i, len(text), "template-brace", "close it with }, or write {{ for a brace", "a brace is not closed in the template")
				return nil
			}
			c.part(p, parts, literal.String(), i, i+end+1)
			literal.Reset()
			i += end + 1
		case text[i] == '}':
			c.sayText(t, i, i+1, "template-brace", "write }} for a brace", "a brace closes nothing in the template")
			return nil
		default:
			literal.WriteByte(text[i])
			i++
		}
	}
	p.follow(literal.String())
	c.checkParts(p, parts)
	if len(c.findings) > before {
		return nil
	}
	return p
}

// part adds the part whose {name} is text[from:to] of the template.
func (c *compiler) part(p *pattern, parts *side, literal string, from, to int) {
	t := c.rule.Template
	name := t.Value[from+1 : to-1]
	path := parts.index(name)
	if path < 0 {
		c.sayText(t, from+1, to-1, "no-such-part", didyoumean.Hint(name, parts.names(), ""),
			"the template has a part {%s}, and %s names %s", name, parts.key, List(parts.names()))
		return
	}
	for _, other := range p.parts {
		if other.path == path {
			c.sayText(t, from, to, "part-twice", "name each part once", "the template has the part {%s} twice", name)
			return
		}
	}
	if len(p.parts) > 0 && literal == "" {
		c.sayText(t, from, to, "parts-without-separator", "put a text between them that the first does not contain",
			"nothing separates the part {%s} from the one before it", name)
	}
	p.follow(literal)
	p.parts = append(p.parts, part{path: path, node: parts.nodes[path]})
}

// follow adds a literal after the last part, or before the first.
func (p *pattern) follow(literal string) {
	if len(p.parts) == 0 {
		p.prefix = literal
	} else {
		p.parts[len(p.parts)-1].after = literal
	}
}

func (c *compiler) checkParts(p *pattern, parts *side) {
	used := map[int]bool{}
	for i, part := range p.parts {
		used[part.path] = true
		if p.hasAbsent && part.after != "" && i < len(p.parts)-1 && strings.Contains(p.absent, part.after) {
			c.say(c.rule.Absent.Pos, "absent-has-separator", "use a text without it",
				"the text for an absent part contains the separator %q", part.after)
		}
	}
	for i, name := range parts.names() {
		if !used[i] {
			c.say(parts.place.Paths[i].NamePos, "part-not-used", "add {"+name+"} to the template, or remove the path",
				"the template has no part {%s}", name)
		}
	}
}

var (
	errPartAbsent = errors.New("a part of the template is absent, and the rule has no text for that")
	errNoMatch    = errors.New("the text does not match the template")
	errAllAbsent  = errors.New("the text says that all parts are absent")
	errNoText     = errors.New("a value has no text of its own")
)

// join makes the text of the parts.
func (p *pattern) join(_ *Call, in, out []Operand) error {
	text := []byte(p.prefix)
	for _, part := range p.parts {
		switch o := in[part.path]; {
		case o.Present:
			t, err := textOf(part.node, o.Value.Text())
			if err == nil && !Admits(part.node, o.Value.Text()) {
				err = errNoText // a value that the schema does not allow may contain a separator
			}
			if err != nil {
				return err
			}
			text = append(text, t...)
		case p.hasAbsent:
			text = append(text, p.absent...)
		default:
			return errPartAbsent
		}
		text = append(text, part.after...)
	}
	out[0] = Operand{Value: jsondoc.StringValue(string(text)), Present: true}
	return nil
}

// split finds the parts of the text. Each ends at the first occurrence of the literal that follows
// it, the last one at the end.
func (p *pattern) split(_ *Call, in, out []Operand) error {
	literal := in[0].Value.Text()
	rest, found := strings.CutPrefix(stringIn(literal), p.prefix)
	if literal[0] != '"' || !found {
		return errNoMatch
	}
	for i, part := range p.parts {
		var text, behind string
		if i == len(p.parts)-1 {
			text, found = strings.CutSuffix(rest, part.after)
		} else {
			text, behind, found = strings.Cut(rest, part.after)
		}
		if !found {
			return errNoMatch
		}
		rest = behind
		if p.hasAbsent && text == p.absent {
			continue
		}
		v, ok := valueOf(part.node, text)
		if !ok {
			return errNoMatch
		}
		out[part.path] = Operand{Value: v, Present: true}
	}
	if !slices.ContainsFunc(out, isPresent) { // the text would not come back
		return errAllAbsent
	}
	return nil
}

// textOf returns the text of a part of a template.
func textOf(n *crdschema.Node, text []byte) (string, error) {
	switch {
	case text[0] == '"':
		return jsondoc.Unquote(text), nil
	case text[0] == 't', text[0] == 'f':
		return string(text), nil
	case jsondoc.IsNumber(text) && n.Kind() == crdschema.Number:
		return jsondoc.CanonicalNumber(string(text))
	case jsondoc.IsNumber(text):
		if _, ok := int64Of(string(text)); ok {
			return string(text), nil
		}
	}
	return "", errNoText
}

// valueOf returns the value that has the text, if the text comes back from it.
func valueOf(n *crdschema.Node, text string) (jsondoc.Value, bool) {
	switch n.Kind() {
	case crdschema.Integer:
		i, ok := int64Of(text)
		return jsondoc.IntValue(i), ok
	case crdschema.IntOrString:
		if i, ok := int64Of(text); ok {
			return jsondoc.IntValue(i), true
		}
	case crdschema.Number:
		canonical, err := jsondoc.CanonicalNumber(text)
		return rawValue([]byte(text)), err == nil && canonical == text && validNumber(text)
	case crdschema.Boolean:
		return rawValue([]byte(text)), text == "true" || text == "false"
	default:
	}
	return jsondoc.StringValue(text), true
}

// joinInjective reports whether split restores the parts of every text that join makes.
func (p *pattern) joinInjective() bool {
	for i, part := range p.parts {
		last := i == len(p.parts)-1
		if !part.clear(p, last) {
			return false
		}
		if p.hasAbsent && !last && !endsAt(p.absent, part.after) {
			return false
		}
	}
	return true
}

// clear reports whether split always finds the end of a part, and no text of the part is that of an
// absent one.
func (t *part) clear(p *pattern, last bool) bool {
	kind, texts := t.node.Kind(), t.texts()
	switch {
	case texts != nil:
		for _, text := range texts {
			if p.hasAbsent && text == p.absent || !last && !endsAt(text, t.after) {
				return false
			}
		}
		return true
	case kind == crdschema.Integer:
		_, absentIsInteger := int64Of(p.absent)
		return (!p.hasAbsent || !absentIsInteger) && (last || !strings.ContainsAny(t.after[:1], "-0123456789"))
	}
	return kind == crdschema.String && last && !p.hasAbsent
}

// texts returns all texts of a part, or nil if there is no list of them.
func (t *part) texts() []string {
	if kind := t.node.Kind(); kind != crdschema.String && kind != crdschema.Boolean {
		return nil
	}
	var texts []string
	for _, value := range domain(t.node) {
		if text, err := textOf(t.node, []byte(value)); err == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// endsAt reports whether the first separator in the text and a separator is the one at the end.
func endsAt(text, separator string) bool {
	return strings.Index(text+separator, separator) == len(text)
}

// joinTotal reports whether all values of the parts make a text that the target allows.
func (p *pattern) joinTotal(target *crdschema.Node) bool {
	for _, part := range p.parts {
		switch part.node.Kind() {
		case crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
		default:
			return false
		}
		if part.node.Nullable() {
			return false
		}
	}
	return len(target.Enum()) == 0
}
