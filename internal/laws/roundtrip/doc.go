// Package roundtrip holds converters to the conversion laws. Laws and Suite.Check take objects:
// samples, their fragments and random variants of them. With the schemas of the versions,
// Suite.Fuzz makes the objects at random, with fragments and edits of them. It also takes walks:
// the API server stores an object at one version and later at another, while clients write it at
// all of them.
//
// In the laws x is an object at version A, and C converts. = is equality as JSON with number
// literals compared as text, or, with schemas, after the API server's pruning and defaulting. ~ is
// the same except for the values that webhookd keeps in annotations.
//
//   - L1 round trip: C(B->A)(C(A->B)(x)) = x, and no kept value is left over.
//   - L2 edit: C(A->B)(C(B->A)(y)) ~ y for any object y at B, whatever it keeps: nothing, kept
//     values of its own or of another object, or malformed ones. What the user says wins over what
//     was kept.
//   - L3 visible: kept values of A and of third versions, and malformed ones, change nothing that
//     is visible in C(A->B)(x). Those of third versions pass unchanged.
//   - L4 hub: C(A->B) = C(hub->B)(C(A->hub)). What the hub keeps of A is what B keeps of it.
//   - L5 identity: C(A->A) changes no byte.
//   - L6 nothing to prune: pruning C(A->B)(x) by the schema of B changes nothing.
//   - L7 total: every fragment converts: without any of its parts, without spec, without metadata,
//     with null anywhere.
//   - L8 deterministic: the same bytes every time.
//   - L10 nothing hidden: let G be the way back from B to A without kept values, y what B shows
//     now, and b what it showed when something of A was kept. Where G(y) and G(b) differ, the
//     result shows G(y). Where the conversions of these without kept values differ, so does that of
//     the result, if y and b differ there, too.
//   - L11 growth: what was kept before rules were added comes back.
//   - L12 skew: a field that the API server knows in one version, and the converter in none,
//     survives writes at the others.
//   - L13 well formed: if the result has the types and the structure of its schema without kept
//     values, it has them with any.
//   - Metadata: everything in it except labels and annotations keeps its text. Labels and
//     annotations are strings, and labels are valid.
//   - Source: nothing writes to the text that is converted.
//
// Suite.Scorer holds a webhook of any author to one law at a time, without those that know how
// webhookd keeps values. Compare shows where two converters of one kind differ.
//
// L6 and L10 to L13 need schemas. Other laws are held elsewhere: L9, converters are pure, by the
// linter; L14, an object that cannot be converted does no harm to others, by tests with an API
// server; L15, each leaf is kept by itself, and L16, so is each element, by rules/laws, which also
// holds L11 while old replicas still run.
package roundtrip
