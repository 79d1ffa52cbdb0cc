// Package transform computes what one rule says: the values of its places in the hub from those in
// a version, and back. A plain pair hands values on; values, template and codec are tables and
// formats with two directions; toHub and toSpoke are CEL; go: is a registered function.
//
// [Compile] checks a rule against the schemas of its places and reports findings. The [Transform]
// that it returns sees only the values of the rule's places. Expressions also read `object` and
// `metadata`, as text (package celvalue).
package transform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/google/cel-go/common/types/ref"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An Operand is the value of one path of a rule: present or absent. A JSON null is present.
type Operand struct {
	Value   jsondoc.Value
	Present bool
}

// A Transform is the two directions of a rule: from the version to the hub, and back. It is indexed
// by the side that is converted from.
type Transform [2]*Way

// A Way is one direction of a rule. It is immutable, deterministic and safe for concurrent use with
// different calls.
type Way struct {
	// Injective says that wherever Run succeeds, the other direction restores its inputs exactly,
	// so there is nothing to check. A number may come back as the API server spells it: 0.50 as
	// 0.5.
	Injective bool
	// Total says that Run gives every output a value that the schema allows if every input has one.
	// Integers count as valid if they are int64 and spelt as the API server spells them: 5, not
	// 5.0.
	Total bool
	// Reads are what Run reads of the object, other than its inputs.
	Reads []Read
	// Constants are the results that an expression has in its text.
	Constants []Constant

	run     func(c *Call, in, out []Operand) error
	targets []*crdschema.Node // what the outputs are checked against, if anything
}

var errUnfit = errors.New("the result is not a value that the schema allows")

// Run computes all of out from in, which have one operand for each path of their sides, in the
// order of the rule. It leaves in alone. If in has operands and all are absent, all of out is
// absent.
//
// An error means that the values cannot be converted. All of out is absent then, and the caller
// must keep the inputs. An error never quotes a value. If c.Context is done, an error says nothing
// about the values and the conversion has to fail.
func (w *Way) Run(c *Call, in, out []Operand) error {
	clear(out)
	if len(in) > 0 && !slices.ContainsFunc(in, isPresent) {
		return nil
	}
	err := w.run(c, in, out)
	for i := range min(len(out), len(w.targets)) {
		if err == nil && out[i].Present && !Admits(w.targets[i], out[i].Value.Text()) {
			err = errUnfit
		}
	}
	if err != nil {
		clear(out)
	}
	return err
}

func isPresent(o Operand) bool { return o.Present }

var errNoWay = errors.New("the rule does not convert in this direction")

// failing is a direction that the rule does not have or that has findings.
func failing() *Way {
	return &Way{run: func(*Call, []Operand, []Operand) error { return errNoWay }}
}

// A Call is the conversion of one object, as transforms and guards see it. It is for one goroutine.
type Call struct {
	// Context ends evaluations. It must not be nil.
	Context context.Context //nolint:containedctx // a call is an argument
	// Source is the object. It may be nil if no expression reads one.
	Source Source
	// Element is what a rule's expressions read as `element`.
	Element Operand
	// Mute makes all expressions and guards fail as those do that exceed the cost limit.
	Mute bool

	spent            spending
	object, metadata ref.Val
}

// A Source is the object that expressions read. A call asks for each text when an expression first
// reads it. The texts must not change while the call is in use.
type Source interface {
	// Object returns the text of the object, or nothing if there is none.
	Object() []byte
	// Metadata returns the object's metadata, or nil, and does not read the rest. The metadata must
	// not change while the call is in use.
	Metadata() *jsondoc.Node
}

// A spending is what the expressions for one object have cost.
type spending struct {
	units                 uint64
	callLimit, totalLimit bool // an expression failed for it
}

// CallLimit reports whether an expression failed because it exceeded the cost limit of one
// expression.
func (c *Call) CallLimit() bool { return c.spent.callLimit }

// TotalLimit reports whether an expression failed because the earlier ones used up the cost limit
// of the object. Which ones fail for that depends on their order.
func (c *Call) TotalLimit() bool { return c.spent.totalLimit }

// A GoFunc is the function that `go: name` calls in each direction. It gets the values of one side
// of the rule as JSON, in the order of its paths and nil for one that is absent, and returns one
// for each path of the other side, or an error if the values cannot be converted. The error is
// neither shown nor logged. The functions must be pure and must accept fragments; if no value is
// present, none of the result may be.
type GoFunc struct {
	ToHub, ToSpoke func(ctx context.Context, in []json.RawMessage) ([]json.RawMessage, error)
}

// A namedNode is the schema of a value that an expression reads as `self.name`, or as `self` if the
// name is empty.
type namedNode struct {
	name string
	node *crdschema.Node
}

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
