package hold

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// class says which laws apply to an object.
type class int

const (
	// classValid objects are what the API server stores: pruned and valid.
	classValid class = iota
	// classIncomplete ones lack a field that is required.
	classIncomplete
	// classInvalid ones are the others: with nulls or unknown fields. They only have to convert.
	classInvalid
)

// A subject is one object that is held to the laws.
type subject struct {
	*Runner
	ctx    context.Context //nolint:containedctx // lives as long as one call
	object []byte
	// source is what the object was at first.
	source  []byte
	version string
	class   class
	// refused says that the API server does not accept its labels or annotations.
	refused bool
	// keeps says that the object came with kept values.
	keeps bool
	// foreign says that these are not its own: the API server might not store what they have.
	foreign bool
	// state is what the API server would make of the object, without kept values.
	state map[string]any
	// defaulted are the places that the defaults of its version filled in there.
	defaulted [][]any
	// results is what the object was converted to, by version.
	results map[string][]byte
	// rand makes random choices.
	rand *rand.Rand
}

// subject returns a violation for a text that is not an object of the kind.
func (s *Runner) subject(ctx context.Context, object []byte) (*subject, *ViolationError) {
	t := &subject{Runner: s, ctx: ctx, object: object, source: bytes.Clone(object), results: make(map[string][]byte, 2)}
	var err error
	if t.version, err = tree.VersionOf(object); err == nil && s.Schema(t.version) == nil {
		err = fmt.Errorf("version that the CRD does not have, add its schema: %s", t.version)
	}
	if err != nil {
		return nil, t.violation(Total, "", "%v", err)
	}
	source := tree.Read(object)
	t.refused = generate.BadEntry(source) != ""
	t.state = tree.Copy(source)
	schema := s.Schema(t.version)
	schema.Prune(t.state)
	pruned := tree.Copy(t.state)
	schema.Default(t.state)
	t.defaulted = tree.Added(pruned, t.state, nil, nil)
	meta, _ := source["metadata"].(map[string]any)
	if !tree.Equal(pruned, source) || t.refused || overwritten(source, t.state) || isNull(source, "metadata") || isNull(meta, "uid") {
		t.class = classInvalid
	} else {
		t.class = classOf(schema.Validate(t.state))
	}
	t.keeps = len(tree.Kept(t.state, "")) > 0
	s.Visible(t.state)
	return t, nil
}

// isNull reports whether a member of an object is null.
func isNull(object map[string]any, name string) bool {
	value, has := object[name]
	return has && value == nil
}

// overwritten reports whether defaults took the place of nulls.
func overwritten(source, state map[string]any) bool {
	return slices.ContainsFunc(tree.Parts(source), func(p tree.Part) bool { return p.Value == nil && tree.At(state, p.Path...) != nil })
}

func classOf(problems field.ErrorList) class {
	found := classValid
	for _, problem := range problems {
		if found = classIncomplete; problem.Type != field.ErrorTypeRequired {
			return classInvalid
		}
	}
	return found
}

// fails is L7 for a conversion that fails. If the kept values do not fit into annotations, the
// conversion may fail, and no other law applies to the object.
func (t *subject) fails(to string, err error, format string, args ...any) *ViolationError {
	if _, is := errors.AsType[*annotation.TooLargeError](err); is {
		t.class = classInvalid
		return nil
	}
	return t.violation(Total, to, format, args...)
}

func (t *subject) violation(law Law, to, format string, args ...any) *ViolationError {
	return &ViolationError{Law: law, From: t.version, To: to, Problem: fmt.Sprintf(format, args...), Object: t.object, Seed: t.Seed}
}

// convert converts an object as the API server sends it: what it has stored has a uid, a fragment
// may have none.
func (t *subject) convert(ctx context.Context, object []byte, from, to string) ([]byte, error) {
	if t.class == classInvalid {
		return t.Convert(ctx, object, from, to)
	}
	return t.ConvertStored(ctx, object, from, to)
}
