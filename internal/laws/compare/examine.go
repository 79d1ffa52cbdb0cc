package compare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An Examiner says what conversions would do to objects that exist. It is safe for concurrent use.
type Examiner struct {
	*hold.Resource

	laws *hold.Runner
}

// NewExaminer returns an Examiner of conversions between the served versions of a CRD. What the
// drops lose is not a difference. It also holds objects to all laws, and random edits of what they
// become. Hints are values for the edits, by version.
func NewExaminer(kind *converters.Kind, crd *crdschema.CRD, drops []hold.Drop, hints map[string]generate.Hints) (*Examiner, error) {
	r, err := hold.NewResource(kind, nil, crd, drops)
	if err != nil {
		return nil, err
	}
	r.Versions = slices.DeleteFunc(r.Versions, func(v string) bool { return !crd.Version(v).Served || crd.Version(v).Root == nil })
	served := *kind
	served.Versions = r.Versions
	laws, err := hold.Suite{Kind: &served, CRD: crd, Drops: drops, Hints: hints, Seed: hold.DefaultSeed, Stored: true}.Prepare()
	return &Examiner{r, laws}, err
}

// An Examination is what was found about an object.
type Examination struct {
	// Version is that of the object.
	Version string
	// Refused is what the schema of this version has against the object as it is.
	Refused []generate.Refusal
	// Outcomes has one for each other served version.
	Outcomes []Outcome
	// Broken is a law that does not hold although the outcomes have no error and no difference.
	Broken *hold.ViolationError
}

// An Outcome is what becomes of an object that is read at another version and written back from
// there without a change, as the API server does both.
type Outcome struct {
	To string
	// Err is why it cannot be converted, or if Back is true, not back. The rest is empty then.
	// TooLarge means that what had to be kept did not fit into annotations.
	Err            error
	Back, TooLarge bool
	// Differs are the places of the object's version that come back with another value, and Dropped
	// those where rules drop it.
	Differs, Dropped []Difference
	// Pruned are places of To that the API server removes, because the schema lacks them.
	Pruned []Difference
	// Refused is what the schema of To has against the result, with Kubernetes' own validation.
	Refused []generate.Refusal
	// Kept are the places whose values are kept in annotations of the result. KeptBytes is the size
	// of the names and values of these annotations, AnnotationBytes that of all annotations.
	Kept                       []string
	KeptBytes, AnnotationBytes int
}

// Examine converts an object to every other version and back. The error says why the text is not an
// object of the kind.
func (e *Examiner) Examine(ctx context.Context, object []byte) (*Examination, error) {
	version, err := tree.VersionOf(object)
	if err != nil {
		return nil, err
	}
	if !e.Has(version) {
		return nil, fmt.Errorf("version that the rules or their CRD do not have, add it there: %s", version)
	}
	state := e.View(version, object)
	found := &Examination{Version: version, Refused: generate.RefusalsOf(e.Schema(version), state)}
	tree.Visible(state)
	for _, to := range e.Others(version) {
		found.Outcomes = append(found.Outcomes, e.outcomeOf(ctx, object, state, version, to))
	}
	bad := func(o Outcome) bool { return o.Err != nil || len(o.Differs) > 0 }
	if !slices.ContainsFunc(found.Outcomes, bad) {
		found.Broken = e.laws.Hold(ctx, object, generate.Random(hold.DefaultSeed^generate.Hash(version), generate.Hash(string(object))))
	}
	return found, nil
}

// outcomeOf examines one direction. State is the object as the API server has it, without kept
// values.
func (e *Examiner) outcomeOf(ctx context.Context, object []byte, state map[string]any, from, to string) (o Outcome) {
	o.To = to
	fails := func(err error, back bool) Outcome {
		_, o.TooLarge = errors.AsType[*annotation.TooLargeError](err)
		o.Err, o.Back = err, back
		return o
	}
	result, err := e.converted(ctx, object, state, from, to)
	if err != nil {
		return fails(err, false)
	}
	e.measure(&o, result)
	schema, stored := e.Schema(to), tree.Copy(result)
	schema.Prune(stored)
	o.Pruned = differences(schema.Root, result, stored)
	schema.Default(stored)
	o.Refused = generate.RefusalsOf(schema, stored)
	returned, err := e.converted(ctx, tree.Encode(stored), stored, to, from)
	if err != nil {
		return fails(err, true)
	}
	e.Admit(from, returned)
	tree.Visible(returned)
	root := e.Schema(from).Root
	o.Differs = differences(root, e.WithoutDropped(state, from, to), e.WithoutDropped(returned, from, to))
	for _, d := range differences(root, state, returned) {
		if !slices.Contains(o.Differs, d) {
			o.Dropped = append(o.Dropped, d)
		}
	}
	return o
}

// converted converts as the server does. Like that it refuses a result with other metadata than the
// object has, which is also given decoded.
func (e *Examiner) converted(ctx context.Context, object []byte, decoded map[string]any, from, to string) (map[string]any, error) {
	text, err := e.Convert(ctx, object, from, to)
	if err != nil {
		return nil, err
	}
	result := tree.Read(text)
	was, _ := decoded["metadata"].(map[string]any)
	is, _ := result["metadata"].(map[string]any)
	for _, name := range tree.Names(was, is) {
		if name != "labels" && name != "annotations" && !tree.Equal(tree.At(was, name), tree.At(is, name)) {
			return nil, fmt.Errorf("a converter may change only labels and annotations in metadata: %s", jsondoc.FormatPath("metadata", name))
		}
	}
	return result, nil
}

// measure counts the annotations of a result.
func (e *Examiner) measure(o *Outcome, result map[string]any) {
	paths := map[string]bool{}
	for name, value := range tree.Annotations(result) {
		text, _ := value.(string)
		o.AnnotationBytes += len(name) + len(text)
		if !annotation.IsOwn(name) {
			continue
		}
		o.KeptBytes += len(name) + len(text)
		kept := annotation.Describe(name, text)
		for _, value := range kept.Values {
			path := value.Path
			if of := e.Schema(kept.Version); of != nil {
				path, _ = generate.SchemaPath(of.Root, path)
			}
			paths[path] = true
		}
	}
	o.Kept = slices.Sorted(maps.Keys(paths))
}
