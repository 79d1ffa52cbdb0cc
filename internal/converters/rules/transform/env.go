package transform

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
)

// An Env is what the rules of a process have in common: the functions of CEL and the registered ones. It is immutable and
// safe for concurrent use.
type Env struct {
	base  *cel.Env
	funcs map[string]GoFunc
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
	return &Env{base: base, funcs: funcs}, nil
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
