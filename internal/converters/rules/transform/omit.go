package transform

import (
	"bytes"
	"errors"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

var errEmpty = errors.New("the value is empty, and the rule leaves empty values out")

// omitEmpty makes the directions that `omitEmpty` names fail where the value is empty, before
// or after the rule converts it: then the place stays absent, and the input is kept.
func (c *compiler) omitEmpty(t Transform) {
	omits := [2]bool{ // by the side that is converted from
		c.rule.OmitEmpty == syntax.OmitInHub || c.rule.OmitEmpty == syntax.OmitInBoth,
		c.rule.OmitEmpty == syntax.OmitInSpoke || c.rule.OmitEmpty == syntax.OmitInBoth,
	}
	for from, way := range t {
		if way == nil || !omits[from] {
			continue
		}
		if back := t[1-from]; back != nil {
			back.Injective = false // what it makes of an empty value does not return
		}
		run := way.run
		way.Total = false
		way.run = func(call *Call, in, out []Operand) error {
			if len(in) == 1 && in[0].Present && isEmpty(in[0].Value.Text()) {
				return errEmpty
			}
			if err := run(call, in, out); err != nil {
				return err
			}
			if len(out) == 1 && out[0].Present && isEmpty(out[0].Value.Text()) {
				return errEmpty
			}
			return nil
		}
	}
}

// isEmpty reports whether a value, given as JSON, is null or what encoding/json leaves out for
// omitempty.
func isEmpty(text []byte) bool {
	switch text[0] {
	case '"':
		return len(text) == 2
	case '[', '{':
		return len(bytes.TrimSpace(text[1:len(text)-1])) == 0
	case 'f', 'n':
		return true
	case 't':
		return false
	}
	number, err := jsondoc.CanonicalNumber(string(text))
	return err == nil && (number == "0" || number == "-0")
}
