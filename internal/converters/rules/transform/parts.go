package transform

import (
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

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
