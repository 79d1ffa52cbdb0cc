package transform

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An Env has the functions of CEL and the registered Go functions, which all rules share. It is
// safe for concurrent use.
type Env struct {
	base  *cel.Env
	funcs map[string]GoFunc

	mutex  sync.Mutex
	scalar map[scope]*typedEnv
}

// A scope is the types of an expression's variables, if self is a scalar or absent.
type scope struct {
	root     *crdschema.Node
	self     bool
	kind     crdschema.Kind
	nullable bool
}

// A typedEnv has the variables of expressions. It takes far more time and memory than an
// expression, so expressions with the same variables share one and are compiled one after the
// other.
type typedEnv struct {
	mutex sync.Mutex
	env   *cel.Env
	types *provider
}

// typed returns the environment of an expression for the values of a side.
func (e *Env) typed(text string, from *side) (*typedEnv, error) {
	if from.named() || from.single() && !from.node().Scalar() || from.element != nil && strings.Contains(text, "element") {
		return newTypedEnv(e.base, from)
	}
	key := scope{root: from.root, self: from.single(), kind: from.node().Kind(), nullable: from.node().Nullable()}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if made := e.scalar[key]; made != nil {
		return made, nil
	}
	shared := *from
	shared.element = nil
	made, err := newTypedEnv(e.base, &shared)
	if err == nil {
		e.scalar[key] = made
	}
	return made, err
}

func newTypedEnv(base *cel.Env, from *side) (*typedEnv, error) {
	t := &typedEnv{types: newProvider(base.CELTypeProvider())}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(t.types),
		cel.Variable("object", t.types.typeOf(from.root, "object")),
		cel.Variable("metadata", t.types.typeOf(from.root.Property("metadata"), "metadata")),
	}
	switch {
	case from.named():
		options = append(options, cel.Variable("self", t.types.objectType(&object{path: "self", named: from.namedNodes()})))
	case from.single():
		options = append(options, cel.Variable("self", t.types.typeOf(from.node(), "self")))
	}
	if from.element != nil {
		options = append(options, cel.Variable("element", t.types.typeOf(from.element.Node, "element")))
	}
	var err error
	t.env, err = base.Extend(options...)
	return t, err
}

// compile checks an expression. It also returns the fields that are missing.
func (t *typedEnv) compile(text string) (*cel.Ast, *cel.Issues, []missingField) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.types.missing = nil
	checked, issues := t.env.Compile(text)
	return checked, issues, t.types.missing
}

func (t *typedEnv) program(made *cel.Ast, light bool) (cel.Program, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.env.Program(made, programOptions(light)...)
}

// NewEnv returns an environment with registered functions. The map may be nil and must not change
// afterwards. NewEnv takes some milliseconds: share the result. It fails only if the CEL libraries
// do not fit each other.
func NewEnv(funcs map[string]GoFunc) (*Env, error) {
	base, err := cel.NewEnv(celOptions()...)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	guarded, err := guardedFunctions(base)
	if err == nil {
		base, err = base.Extend(guarded...)
	}
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	return &Env{base: base, funcs: funcs, scalar: map[scope]*typedEnv{}}, nil
}

// celOptions are those of Kubernetes 1.37 (k8s.io/apiserver/pkg/cel/environment), with these
// differences: maps and lists may hold values of different types, as the named values of a rule do;
// there is no authorizer; names may be quoted with backticks; and there is the math of cel-go.
func celOptions() []cel.EnvOption {
	return append([]cel.EnvOption{
		cel.EagerlyValidateDeclarations(true),
		cel.DefaultUTCTimeZone(true),
		cel.CrossTypeNumericComparisons(true),
		cel.OptionalTypes(),
		cel.EnableIdentifierEscapeSyntax(),
		cel.ParserRecursionLimit(250),
		cel.CostEstimatorOptions(checker.PresenceTestHasCost(false)),
		cel.ASTValidators(cel.ValidateDurationLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateRegexLiterals()),
		ext.Strings(ext.StringsVersion(2)),
		ext.Sets(),
		ext.Lists(ext.ListsVersion(3)),
		ext.TwoVarComprehensions(),
		ext.Math(ext.MathVersion(2)),
		library.URLs(),
		library.Regex(),
		library.Lists(library.ListsVersion(1)),
		library.Quantity(),
		library.IP(),
		library.CIDR(),
		library.Format(),
		library.SemverLib(library.SemverVersion(1)),
	}, safeFunctions()...)
}

// The API server's limits for expressions (k8s.io/apiserver/pkg/apis/cel), and our own for results.
const (
	maxCallCost   = 1_000_000
	maxObjectCost = 10_000_000
	maxStaticCost = 10_000_000 // of an estimate (apiextensions, StaticEstimatedCostLimit)
	checkEvery    = 100        // steps of a comprehension between two checks of the context
	maxResult     = 1 << 20    // bytes
)

// programOptions returns the options of an expression. Its cost is counted unless it is light.
func programOptions(light bool) []cel.ProgramOption {
	if light {
		return []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize)}
	}
	return []cel.ProgramOption{
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(maxCallCost),
		cel.CostTracking(&actualCost{works: works()}),
		cel.CostTrackerOptions(interpreter.PresenceTestHasCost(false)),
		cel.InterruptCheckFrequency(checkEvery),
	}
}
