package transform

import (
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// The assumed sizes of values that the schema does not bound. Most schemas have no bounds, and any
// loop over the largest possible object would be too expensive. Larger values meet the limits at
// run time.
const (
	usualLength = 1024 // characters of a string
	usualCount  = 128  // elements or entries
)

// checkCost reports an expression that may cost more than the API server allows a rule of a CRD.
func (e *expressionCompiler) checkCost() {
	estimate, err := e.env.env.EstimateCost(e.ast, &library.CostEstimator{SizeEstimator: sizes{e}})
	if err != nil || estimate.Max <= maxStaticCost {
		return
	}
	e.say(e.text.Pos, "expression-cost",
		"loop less, or bound the values in the schema with maxLength, maxItems and maxProperties",
		"%s: the expression may cost %d units, and no more than %d are allowed", e.key, estimate.Max, maxStaticCost)
}

// sizes estimates the sizes of values from their schemas.
type sizes struct{ *expressionCompiler }

// EstimateSize implements checker.CostEstimator.
func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	size := uint64(usualLength)
	if kind := element.Type().Kind(); kind == types.ListKind || kind == types.MapKind {
		size = usualCount
	}
	if bound, ok := s.bound(element.Path()); ok {
		size = bound
	}
	return &checker.SizeEstimate{Max: size}
}

// EstimateCallCost implements checker.CostEstimator.
//
//nolint:gocritic // the interface wants a pointer
func (s sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}

// bound returns the largest size of the value at a path of CEL: a variable, then fields and
// elements.
func (s sizes) bound(path []string) (uint64, bool) {
	node, rest := s.variable(path)
	for _, name := range rest {
		switch name {
		case "@items":
			node = node.Items()
		case "@values":
			node = node.Values()
		case "@keys":
			return 0, false
		default:
			property, _ := celvalue.FieldName(node, name)
			node = node.Property(property)
		}
	}
	return maxSize(node)
}

// variable returns the schema of the path's variable or named value, and the rest of the path.
func (s sizes) variable(path []string) (*crdschema.Node, []string) {
	switch {
	case len(path) == 0:
	case path[0] == "object":
		return s.from.root, path[1:]
	case path[0] == "metadata":
		return s.from.root.Property("metadata"), path[1:]
	case path[0] == "self" && !s.from.named():
		return s.from.node(), path[1:]
	case path[0] == "self" && len(path) > 1 && s.from.index(path[1]) >= 0:
		return s.from.nodes[s.from.index(path[1])], path[2:]
	}
	return nil, nil
}

// maxSize returns the largest size of values, if the schema bounds it.
func maxSize(n *crdschema.Node) (uint64, bool) {
	if n == nil {
		return 0, false
	}
	if enum := n.Enum(); len(enum) > 0 {
		longest := 0
		for _, value := range enum {
			longest = max(longest, len(value))
		}
		return uint64(longest), true
	}
	v := n.Structural().ValueValidation
	if v == nil {
		return 0, false
	}
	var bound *int64
	switch n.Kind() {
	case crdschema.Array:
		bound = v.MaxItems
	case crdschema.Object, crdschema.Map:
		bound = v.MaxProperties
	default:
		bound = v.MaxLength
	}
	if bound == nil || *bound < 0 {
		return 0, false
	}
	return uint64(*bound), true
}
