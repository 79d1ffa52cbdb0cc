package transform

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

var (
	errFunc  = errors.New("a registered function cannot convert the values")
	errCount = errors.New("a registered function gave another number of values than the rule has paths")
)

// goFunc compiles `go`.
func (c *compiler) goFunc() Transform {
	name := c.rule.Go.Value
	f, found := c.env.funcs[name]
	if !found {
		names := slices.Sorted(maps.Keys(c.env.funcs))
		hint := didyoumean.Hint(name, names, "the functions are "+List(names))
		if len(names) == 0 {
			hint = "functions are registered in a webhookd that was built with them; this one has none"
		}
		c.sayText(c.rule.Go, 0, len(name), "no-such-function", hint, "no function is registered as %.64s", name)
		return Transform{}
	}
	return c.checked(goWay(f.ToHub, len(c.hub.nodes)), goWay(f.ToSpoke, len(c.spoke.nodes)))
}

func goWay(f func(context.Context, []json.RawMessage) ([]json.RawMessage, error), count int) *Way {
	if f == nil {
		return failing()
	}
	return &Way{run: func(c *Call, in, out []Operand) error {
		texts := make([]json.RawMessage, len(in))
		for i, operand := range in {
			if operand.Present {
				texts[i] = slices.Clone(operand.Value.Text())
			}
		}
		result, err := f(c.Context, texts)
		switch {
		case err != nil:
			return errFunc // its own text may quote a value
		case len(result) != count:
			return errCount
		}
		for i, text := range result {
			if out[i].Present = text != nil; !out[i].Present {
				continue
			}
			if out[i].Value, err = jsondoc.RawValue(text); err != nil {
				return errFunc
			}
		}
		return nil
	}}
}
