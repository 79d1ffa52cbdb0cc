package reference

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// What an expression reads of a place.
const (
	readValue = iota
	readPresence
	readCount
	readExistence // as presence, also with the value of the default
)

// A read is a place that an expression reads, below one of its variables.
type read struct {
	variable string
	at       path
	what     int
}

type expression struct {
	program cel.Program
	reads   []read
}

func newEnv() (*cel.Env, error) {
	set, err := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("self", cel.DynType), cel.Variable("object", cel.DynType),
			cel.Variable("metadata", cel.DynType), cel.Variable("element", cel.DynType),
			ext.TwoVarComprehensions(),
		},
	})
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
}

func compile(env *cel.Env, text string) (*expression, error) {
	if text == "" {
		return nil, nil
	}
	checked, issues := env.Parse(text) // the values say of which types they are
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(checked)
	if err != nil {
		return nil, err
	}
	e := &expression{program: program}
	e.collect(checked.NativeRep().Expr(), map[string]read{})
	return e, nil
}

// chain returns the place that an expression names, if that is all it does.
func chain(e ast.Expr, vars map[string]read) (read, bool) {
	switch e.Kind() { //nolint:exhaustive // others name no place
	case ast.IdentKind:
		if r, ok := vars[e.AsIdent()]; ok {
			return r, r.variable != ""
		}
		name := e.AsIdent()
		return read{variable: name}, slices.Contains([]string{"self", "object", "metadata", "element"}, name)
	case ast.SelectKind:
		r, ok := chain(e.AsSelect().Operand(), vars)
		r.at = r.at.with(step{kind: field, name: e.AsSelect().FieldName()})
		return r, ok
	case ast.CallKind:
		call := e.AsCall()
		switch call.FunctionName() {
		case operators.Index, operators.OptIndex, operators.OptSelect:
			r, ok := chain(call.Args()[0], vars)
			if !ok || call.Args()[1].Kind() != ast.LiteralKind {
				return read{}, false
			}
			switch key := call.Args()[1].AsLiteral().(type) {
			case types.String:
				r.at = r.at.with(step{kind: field, name: string(key)})
				return r, true
			case types.Int:
				r.at = r.at.with(step{kind: first})
				return r, key == 0
			}
		}
	}
	return read{}, false
}

// collect adds what an expression reads.
func (x *expression) collect(e ast.Expr, vars map[string]read) {
	if r, ok := chain(e, vars); ok {
		if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
			r.what = readPresence
		}
		x.reads = append(x.reads, r)
		return
	}
	switch e.Kind() { //nolint:exhaustive // others read nothing
	case ast.SelectKind:
		x.collect(e.AsSelect().Operand(), vars)
	case ast.CallKind:
		call := e.AsCall()
		args := call.Args()
		if call.IsMemberFunction() {
			args = append([]ast.Expr{call.Target()}, args...)
		}
		if call.FunctionName() == "size" && len(args) == 1 {
			if r, ok := chain(args[0], vars); ok {
				r.what = readCount
				x.reads = append(x.reads, r)
				return
			}
		}
		if call.FunctionName() == operators.In && args[0].Kind() == ast.LiteralKind {
			if key, isText := args[0].AsLiteral().(types.String); isText {
				if r, ok := chain(args[1], vars); ok {
					r.at, r.what = r.at.with(step{kind: field, name: string(key)}), readPresence
					x.reads = append(x.reads, r)
					return
				}
			}
		}
		for _, a := range args {
			x.collect(a, vars)
		}
	case ast.ListKind:
		for _, a := range e.AsList().Elements() {
			x.collect(a, vars)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			x.collect(entry.AsMapEntry().Key(), vars)
			x.collect(entry.AsMapEntry().Value(), vars)
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		inner := map[string]read{c.AccuVar(): {}}
		maps.Copy(inner, vars)
		r, ok := chain(c.IterRange(), vars)
		if ok {
			r.at = r.at.with(step{kind: items})
			x.reads = append(x.reads, read{r.variable, r.at[:len(r.at)-1], readCount})
		} else {
			x.collect(c.IterRange(), vars)
			r = read{}
		}
		inner[c.IterVar()] = r
		if c.HasIterVar2() {
			inner[c.IterVar()], inner[c.IterVar2()] = read{}, r
		}
		for _, part := range []ast.Expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()} {
			x.collect(part, inner)
		}
	}
}

// variables of an expression, as the schema types them.
type variables map[string]any

// eval returns the result of an expression, or absent.
func (x *expression) eval(vars variables) any {
	out, _, err := x.program.Eval(map[string]any(vars))
	if err != nil {
		return absent{}
	}
	v, err := native(out)
	if err != nil {
		return absent{}
	}
	return v
}

func (x *expression) holds(vars variables) bool { return x == nil || x.eval(vars) == true }

func native(v ref.Val) (any, error) {
	switch v := v.(type) {
	case types.Bool:
		return bool(v), nil
	case types.Int:
		return int64(v), nil
	case types.Uint:
		return int64(v), nil //nolint:gosec // walks have no such numbers
	case types.Double:
		return float64(v), nil
	case types.String:
		return string(v), nil
	case types.Null:
		return nil, nil
	case *types.Optional:
		if !v.HasValue() {
			return absent{}, nil
		}
		return native(v.GetValue())
	case traits.Mapper:
		out := map[string]any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			e, err := native(v.Get(key))
			if err != nil {
				return nil, err
			}
			if !isAbsent(e) {
				out[fmt.Sprint(key.Value())] = e
			}
		}
		return out, nil
	case traits.Lister:
		out := []any{}
		for it := v.Iterator(); it.HasNext() == types.True; {
			e, err := native(it.Next())
			if err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	}
	return nil, fmt.Errorf("result of type %s", v.Type().TypeName())
}

// typed returns a value as expressions see it: numbers of a schema are never integers.
func typed(v any, s *Schema) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			m, _ := member(s, k)
			if s == nil {
				m = nil
			}
			out[k] = typed(e, m)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = typed(e, element(s))
		}
		return out
	case int64:
		if s != nil && s.Type == "number" {
			return float64(v)
		}
	}
	return v
}
