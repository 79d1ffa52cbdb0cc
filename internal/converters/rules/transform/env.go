package transform

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// An Env is what the rules of a process have in common: the functions of CEL and the registered ones. It is immutable and
// safe for concurrent use.
type Env struct {
	base  *cel.Env
	funcs map[string]GoFunc

	mutex  sync.Mutex
	scalar map[scope]*typedEnv
}

// A scope is what the variables of an expression are, where self is a scalar or is not there.
type scope struct {
	root     *crdschema.Node
	self     bool
	kind     crdschema.Kind
	nullable bool
}

// A typedEnv has the variables of expressions. It takes far more time and memory than an expression, so that those with the same
// variables share one; they are compiled one after the other.
type typedEnv struct {
	mutex sync.Mutex
	env   *cel.Env
	types *provider
}

// typed returns the environment of the expressions for the values of a side.
func (e *Env) typed(from *side) (*typedEnv, error) {
	if from.named() || from.single() && !from.node().Scalar() {
		return newTypedEnv(e.base, from)
	}
	key := scope{root: from.root, self: from.single(), kind: from.node().Kind(), nullable: from.node().Nullable()}
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if made := e.scalar[key]; made != nil {
		return made, nil
	}
	made, err := newTypedEnv(e.base, from)
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
		options = append(options, cel.Variable("self", t.types.namedType(from.namedNodes(), "self")))
	case from.single():
		options = append(options, cel.Variable("self", t.types.typeOf(from.node(), "self")))
	}
	var err error
	t.env, err = base.Extend(options...)
	return t, err
}

// compile checks an expression, and returns the fields that there are not as well.
func (t *typedEnv) compile(text string) (*cel.Ast, *cel.Issues, []missingField) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.types.missing = nil
	checked, issues := t.env.Compile(text)
	return checked, issues, t.types.missing
}

// program makes a program of an expression.
func (t *typedEnv) program(made *cel.Ast, light bool) (cel.Program, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.env.Program(made, programOptions(light)...)
}

// NewEnv returns an environment with registered functions, which may be nil and must not change any more. It takes some
// milliseconds: make one, and share it. It fails only if the libraries do not fit each other.
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

// celOptions are those of Kubernetes 1.37 (k8s.io/apiserver/pkg/cel/environment), with these differences: maps and lists may
// hold values of different types, as the named values of a rule do; there is no authorizer to ask; names may be quoted
// with backticks.
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

// The limits of the API server for expressions (k8s.io/apiserver/pkg/apis/cel), and ours for results.
const (
	maxCallCost   = 1_000_000
	maxObjectCost = 10_000_000
	maxStaticCost = 10_000_000 // of an estimate: what a rule of a CRD may cost (apiextensions, StaticEstimatedCostLimit)
	checkEvery    = 100        // steps of a comprehension, between two looks at the context
	maxResult     = 1 << 20    // bytes
)

// programOptions are those of an expression, whose cost is counted unless it is light.
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
