package roundtrip

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// class is how much of a law holds for an object.
type class int

const (
	// whole objects are what the API server stores: pruned and valid.
	whole class = iota
	// partial ones are whole ones of which something is left out that is required.
	partial
	// wild ones are others: with nulls or unknown fields. They must convert, and that is all.
	wild
)

// A trial is one object that is held to the laws.
type trial struct {
	*bench
	checker
	class class
	// stashed says that the object brought a stash along.
	stashed bool
	// foreign says that the stash is none that a conversion made: what it has may be nothing that the API server would store.
	foreign bool
	// state is what the API server would make of the object; for one with stashes, without them.
	state map[string]any
	// there is what the object was converted to, by version.
	there map[string][]byte
}

// trial returns nil and a violation for what is no object of the kind.
func (b *bench) trial(ctx context.Context, object []byte) (*trial, *ViolationError) {
	t := b.newTrial(ctx, object)
	var err error
	if t.group, t.from, err = versionOf(object); err == nil && b.schemaOf(t.from) == nil {
		err = fmt.Errorf("version that the CRD does not have, add its schema: %s", t.from)
	}
	if err != nil {
		return nil, t.violation(lawTotal, "", "%v", err)
	}
	source := decoded(object)
	t.state = copied(source)
	b.schemaOf(t.from).Prune(t.state)
	if !equal(t.state, source) {
		t.class = wild
	}
	b.schemaOf(t.from).Default(t.state)
	if overwritten(source, t.state) || badEntry(source) != "" {
		t.class = wild
	}
	if t.class == whole {
		t.class = classOf(b.schemaOf(t.from).Validate(t.state))
	}
	t.tidy()
	return t, nil
}

// validTrial is the trial of an object that is known to be whole.
func (b *bench) validTrial(ctx context.Context, object []byte, version string, state map[string]any) *trial {
	t := b.newTrial(ctx, object)
	t.group, t.from, t.state = b.CRD.Group, version, state
	t.tidy()
	return t
}

func (b *bench) newTrial(ctx context.Context, object []byte) *trial {
	return &trial{
		bench: b, there: make(map[string][]byte, 2),
		checker: checker{ctx: ctx, kind: b.Kind, object: object, seed: b.Seed, documents: &b.documents},
	}
}

func (t *trial) tidy() {
	if t.stashed = len(stashes(t.state)) > 0; t.stashed {
		visible(t.state)
	} else {
		tidy(t.state)
	}
}

// overwritten reports whether defaults took the place of nulls.
func overwritten(source, state any) bool {
	switch source := source.(type) {
	case nil:
		return state != nil
	case map[string]any:
		fields, _ := state.(map[string]any)
		for name, value := range source {
			if overwritten(value, fields[name]) {
				return true
			}
		}
	case []any:
		items, _ := state.([]any)
		for i, item := range source {
			if i < len(items) && overwritten(item, items[i]) {
				return true
			}
		}
	}
	return false
}

func classOf(problems field.ErrorList) class {
	found := whole
	for _, problem := range problems {
		if found = partial; problem.Type != field.ErrorTypeRequired {
			return wild
		}
	}
	return found
}

// Names of laws, as messages have them.
const (
	lawTotal         = "L7 total"
	lawDeterministic = "L8 deterministic"
	lawMetadata      = "metadata"
	lawRoundTrip     = "L1 round trip"
	lawEdit          = "L2 edit"
	lawVisible       = "L3 visible"
	lawHub           = "L4 hub"
	lawIdentity      = "L5 identity"
	lawPruned        = "L6 nothing to prune"
	lawSource        = "source"
	lawComplete      = "complete"
)

// check holds the object to all laws in all directions.
func (t *trial) check() *ViolationError {
	source := bytes.Clone(t.object)
	if v := t.identity(); v != nil {
		return v
	}
	for _, to := range t.versions() {
		if to == t.from {
			continue
		}
		if v := t.direction(to); v != nil {
			return v
		}
	}
	if !bytes.Equal(source, t.object) {
		return t.violation(lawSource, t.from, "the converter wrote into the text that it was given")
	}
	return nil
}

// direction holds the object to the laws of its conversion to one version.
func (t *trial) direction(to string) *ViolationError {
	there, err := t.convert(t.object, t.from, to)
	if err != nil {
		return t.violation(lawTotal, to, "%v", err)
	}
	again, err := t.convert(t.object, t.from, to)
	if err != nil || !bytes.Equal(there, again) {
		return t.violation(lawDeterministic, to, "got %s, then %s (%v)", there, again, err)
	}
	t.there[to] = there
	if v := t.metadata(to, there); v != nil {
		return v
	}
	result := decoded(there)
	if path := badEntry(result); path != "" && t.class != wild {
		return t.violation(lawMetadata, to, "the API server refuses the whole answer for %s: %s", path, there)
	}
	if v := t.returns(to, there); v != nil || t.class == wild {
		return v
	}
	for _, law := range []func(string, map[string]any) *ViolationError{t.pruned, t.complete, t.overHub, t.blind} {
		if v := law(to, result); v != nil {
			return v
		}
	}
	return nil
}
