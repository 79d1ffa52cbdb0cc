package hold

import "math/rand/v2"

// A Law names a law of conversion as messages do: by its code, if it has one, and a word or two.
type Law string

// The laws that a violation may name.
const (
	RoundTrip     Law = "L1 round trip"
	Edit          Law = "L2 edit"
	Visible       Law = "L3 visible"
	Hub           Law = "L4 hub"
	Identity      Law = "L5 identity"
	Prune         Law = "L6 nothing to prune"
	Total         Law = "L7 total"
	Deterministic Law = "L8 deterministic"
	Hidden        Law = "L10 nothing hidden"
	WellFormed    Law = "L13 well formed"
	Metadata      Law = "metadata"
	Source        Law = "source"
	SameAnswer    Law = "same answer"
	LargeNumbers  Law = "large numbers"
)

// A Row is a law: what it says, what it needs, and how it is held.
type Row struct {
	Law Law
	// Says is the law in a clause, and More the rest of what the page about the laws says: C(A→B)
	// is the conversion from version A to version B, and x an object of A.
	Says, More string
	// Check is the name of the law among the checks of a webhook of any author, the same in every
	// release. Otherwise is what happens to users of one that breaks it, and Untested why it may
	// apply to no object. They are empty for what depends on how webhookd keeps values.
	Check, Otherwise, Untested string
	// Remedy is what the author of a converter in Go can do.
	Remedy string

	stage stage
	needs needs
	// holds tries the law on an object in the conversion to a version. It is nil for a law that
	// other laws include, or that is held elsewhere.
	holds func(t *subject, to string) *ViolationError
	// sample makes the object of an index that the check takes of an ordinary one, nil if there is
	// none. judge reports whether the check applies to that, in the conversion to a version. A
	// check without them is made on walks.
	sample func(s *Runner, object []byte, index uint64) []byte
	judge  func(t *subject, to string) (applies bool, v *ViolationError)
}

// A stage says when a law is held.
type stage int

const (
	// own is the conversion of an object to its own version, and converted to each other one.
	own stage = iota
	converted
	// stored is what a valid object has become at another version.
	stored
	// walked is a walk, see server.go.
	walked
	// elsewhere: by the linter, the tests of rules/laws, and tests with an API server.
	elsewhere
)

// needs are what a law takes of an object, of its conversion to a version, and of the suite.
type needs int

const (
	result   needs = 1 << iota // the object is converted
	readable                   // it has no nulls or unknown fields
	valid                      // the API server stores it
	accepted                   // its labels and annotations are valid
	unkept                     // it keeps nothing
	answers                    // Suite.Like
	forgery                    // Suite.Forgeries
)

// Table returns all laws, in the order in which they are held: a violation is one of the first, so
// what is simpler comes first.
func Table() []Row {
	return []Row{
		{
			Law: Identity, Says: "a conversion to the object's own version changes no byte",
			Remedy: "return the object as it is if both versions are the same", stage: own, holds: (*subject).identity,
		},
		{
			Law: Total, stage: converted, Says: "an object without any of its parts converts, and comes back with nothing but defaults of its schema",
			More:   ". It may lack `spec` or `metadata`, and have `null` anywhere",
			Remedy: "expect that any part of the object is absent, null or new", holds: (*subject).total,
			Check: "fragments", Otherwise: "server-side apply fails, or gives its manager fields that no user has set",
			sample: (*Runner).withoutParts, judge: (*subject).grows,
		},
		{
			Law: Source, stage: converted, Says: "nothing writes to the text that is converted",
			Remedy: "convert a copy of the text", needs: result, holds: (*subject).unwritten,
		},
		{
			Law: Deterministic, stage: converted, Says: "the same review always has the same answer", More: ", byte for byte",
			Remedy: "use no clock, no random numbers and no order of maps", needs: result, holds: (*subject).repeats,
			Check: "repeat", Otherwise: "server-side apply finds conflicts and changes where there are none",
			judge: func(t *subject, to string) (bool, *ViolationError) { return true, t.repeats(to) },
		},
		{
			Law: Metadata, stage: converted, Says: "of metadata only labels and annotations change, and stay valid",
			Remedy: "change nothing in metadata but labels and annotations, and only to values that are valid there",
			needs:  result, holds: (*subject).metadata,
		},
		{
			Law: RoundTrip, stage: converted, Says: "an object is the same after converting there and back",
			More:   ": C(B→A)(C(A→B)(x)) = x, also with lists whose keys repeat or have no counterpart, and no kept value of A is left over",
			Remedy: "wrap the converter in conversion.Lossless, which keeps what it loses", needs: result, holds: (*subject).returns,
			Check: "round trip", Otherwise: "fields get lost, or appear, by a write at another version",
			judge: func(t *subject, to string) (bool, *ViolationError) { return true, t.returns(to) },
		},
		{
			Law: LargeNumbers, Says: "integers over 2^53 keep their value",
			Check: "large numbers", Otherwise: "the number is stored with another value",
			Untested: "the schemas have no integer that may be so large, or no object with it comes back whatever its size",
			stage:    elsewhere, sample: (*Runner).withLargeNumber, judge: (*subject).holdsNumbers, // L1 includes it
		},
		{
			Law: Prune, stage: converted, Says: "converted objects have the fields and types of their schema only",
			More: ". The API server would silently prune nothing. Unless the source has them, no list with keys has elements with " +
				"the same keys or without their key, and no set has duplicates",
			Remedy: "write only fields that the schema of the target version has, or add the field to it",
			needs:  result | readable, holds: (*subject).pruned,
			Check: "schema", Otherwise: "kube-apiserver drops the field, or refuses the next write", judge: (*subject).fits,
		},
		{
			Law: Hub, stage: converted, Says: "the way through the hub gives the same",
			More:   ": C(A→B) = C(hub→B)(C(A→hub)), with defaults in any version, and what the hub keeps of A crosses B",
			Remedy: "convert between two spokes by way of the hub", needs: result | readable, holds: (*subject).overHub,
		},
		{
			Law: Visible, stage: converted, Says: "what users see of the result depends on what they saw of the source, as long as nothing was kept",
			More:   ". Kept values of A, of third versions and malformed ones change nothing. Those of third versions pass unchanged",
			Remedy: "read only annotations that keep values of the target version, and leave those of other versions",
			needs:  result | valid | accepted | unkept, holds: (*subject).blind,
		},
		{
			Law: SameAnswer, stage: converted, Says: "a valid object converts to what another kind makes of it, apart from what either keeps",
			needs: result | valid | unkept | answers, holds: (*subject).like,
		},
		{
			Law: Edit, Says: "an edit at one version outlives conversions to the others",
			More:   ": C(A→B)(C(B→A)(y)) says what y says, whatever y keeps: nothing, fresh, old, foreign or malformed values",
			Remedy: "wrap the converter in conversion.Lossless, which lets edits win over kept values",
			Check:  "edits", Otherwise: "the edit of a user is undone", Untested: "the round trip without edits fails",
			stage: stored, needs: result, holds: (*subject).edits,
		},
		{
			Law: "L11 growth", Says: "what was kept before a rule was added returns after it",
			More: ", also if replicas without the rule convert it again", stage: elsewhere,
		},
		{
			Law: WellFormed, Says: "whatever annotations an object carries, the result has the types and the structure of its schema",
			More:   ". Where a third version has no keys, elements may repeat",
			Remedy: "check kept values against the schema before they are restored, as conversion.Lossless does",
			stage:  stored, needs: result | forgery, holds: (*subject).forgeries,
		},
		{
			Law: Hidden, Says: "if the rules alone give something else than when a value was kept, the result shows it",
			Remedy: "wrap the converter in conversion.Lossless, which restores only what was not edited",
			stage:  walked, holds: (*subject).walk,
		},
		{
			Law: "L12 skew", Says: "a field that the API server knows in one version, and webhookd in none, survives writes at other versions",
			stage: elsewhere,
		},
		{Law: "L9 pure", Says: "no clock, no randomness, no look-up", stage: elsewhere},
		{
			Law: "L14 contained", stage: elsewhere,
			Says: "with [the gate](security.md#objects-that-cannot-be-converted), writing an object that cannot be converted is refused, " +
				"and without it, the object can be read and deleted at the hub",
		},
		{Law: "L15 parts", Says: "what is kept of a field depends only on the field and on its unit", stage: elsewhere},
		{Law: "L16 neighbours", Says: "an edit of one element of a list leaves what was kept of every other element as it was", stage: elsewhere},
		{
			Law: "L17 rollout", stage: elsewhere,
			Says: "while replicas have [different rules](#replicas-with-different-rules), nothing that is stored goes missing at the stored version",
		},
	}
}

// RowOf returns the row of a law, an empty one if there is none.
func RowOf(law Law) Row {
	for _, row := range Table() {
		if row.Law == law {
			return row
		}
	}
	return Row{}
}

// has returns what there is for the laws of the conversion to a version.
func (t *subject) has(to string) (has needs) {
	for i, is := range [...]bool{ // in the order of the constants
		t.results[to] != nil, t.class != classInvalid, t.class == classValid, !t.refused, !t.keeps, t.answers != nil, t.Forgeries,
	} {
		if is {
			has |= 1 << i
		}
	}
	return has
}

// hold holds the object to the laws of a stage in the conversion to a version.
func (t *subject) hold(at stage, to string) *ViolationError {
	for i := range t.table {
		row := &t.table[i]
		if row.stage != at || row.holds == nil || row.needs&^t.has(to) != 0 {
			continue
		}
		if v := row.holds(t, to); v != nil {
			return v
		}
	}
	return nil
}

// check holds the object to the laws of its conversions.
func (t *subject) check() *ViolationError {
	if v := t.hold(own, t.version); v != nil {
		return v
	}
	for _, to := range t.Others(t.version) {
		if v := t.hold(converted, to); v != nil {
			return v
		}
	}
	return nil
}

// all holds the object to all laws but those of walks, by random choices.
func (t *subject) all(r *rand.Rand) *ViolationError {
	t.rand = r
	if v := t.check(); v != nil || t.class != classValid {
		return v
	}
	for _, to := range t.Others(t.version) {
		t.outcome(to)
		if v := t.hold(stored, to); v != nil {
			return v
		}
	}
	return nil
}
