package reference

import (
	"maps"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// What an expression reads of a place.
const (
	readValue = iota
	readPresence
	readCount
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
	e.collect(ast.NavigateAST(checked.NativeRep()), map[string]read{
		"self": {variable: "self"}, "object": {variable: "object"}, "metadata": {variable: "metadata"}, "element": {variable: "element"},
	})
	return e, nil
}

// readOf returns what an expression reads of a place, if that is all it does.
func readOf(e ast.Expr, vars map[string]read) (r read, ok bool) {
	switch e.Kind() { //nolint:exhaustive // others name no place
	case ast.IdentKind:
		r = vars[e.AsIdent()]
		return r, r.variable != ""
	case ast.SelectKind:
		r, ok = readOf(e.AsSelect().Operand(), vars)
		r.at = r.at.with(dot(e.AsSelect().FieldName()))
		if e.AsSelect().IsTestOnly() {
			r.what = readPresence
		}
	case ast.CallKind:
		args := e.AsCall().Args()
		if e.AsCall().IsMemberFunction() {
			args = append([]ast.Expr{e.AsCall().Target()}, args...)
		}
		switch e.AsCall().FunctionName() {
		case "size":
			r, ok = readOf(args[0], vars)
			r.what = readCount
		case operators.Index, operators.OptIndex, operators.OptSelect:
			r, ok = readOf(args[0], vars)
			return r.in(args[1], ok)
		case operators.In:
			r, ok = readOf(args[1], vars)
			r.what = readPresence
			return r.in(args[0], ok)
		}
	}
	return r, ok
}

// in returns a read of a member or of the first element, if the key says which.
func (r read) in(key ast.Expr, ok bool) (read, bool) {
	if key.Kind() != ast.LiteralKind {
		return read{}, false
	}
	name, isText := key.AsLiteral().(types.String)
	s := dot(string(name))
	if !isText {
		s = step{text: first}
	}
	r.at = r.at.with(s)
	return r, ok && (isText || key.AsLiteral() == types.Int(0))
}

// collect adds what an expression reads.
func (x *expression) collect(e ast.NavigableExpr, vars map[string]read) {
	if r, ok := readOf(e, vars); ok {
		x.reads = append(x.reads, r)
		return
	}
	children := e.Children()
	if e.Kind() == ast.ComprehensionKind {
		c := e.AsComprehension()
		r, ok := readOf(c.IterRange(), vars)
		if ok {
			x.reads = append(x.reads, read{r.variable, r.at, readCount})
			r.at, children = r.at.with(step{text: items}), children[1:]
		} else {
			r = read{}
		}
		vars = maps.Clone(vars)
		vars[c.AccuVar()], vars[c.IterVar()] = read{}, r
		if c.HasIterVar2() {
			vars[c.IterVar()], vars[c.IterVar2()] = read{}, r
		}
	}
	for _, child := range children {
		x.collect(child, vars)
	}
}

// variables of an expression, as the schema types them.
type variables map[string]any

// eval returns the result of an expression, or absent.
func (x *expression) eval(vars variables) any {
	out, _, err := x.program.Eval(map[string]any(vars))
	if optional, ok := out.(*types.Optional); ok && err == nil && optional.HasValue() {
		out = optional.GetValue()
	}
	if err != nil {
		return absent{}
	}
	v, err := out.ConvertToNative(types.JSONValueType)
	if err != nil {
		return absent{}
	}
	return normal(v.(interface{ AsInterface() any }).AsInterface()) //nolint:forcetypeassert // as asked for
}

func (x *expression) holds(vars variables) bool { return x == nil || x.eval(vars) == true }
