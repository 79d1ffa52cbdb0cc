// Package roundtrip holds converters to the conversion laws. A law is checked on one object at a time; objects come as
// iterators: samples, their fragments, random variants of them, or what any other generator yields. With the schemas of the
// versions, Suite.Fuzz makes the objects: valid ones at random, fragments and edits of them, and walks: what happens to an
// object on an API server that stores it at one version and later at another, while clients write it at all of them.
//
// The laws, where x is an object at version A, C converts, = is equality as JSON with number literals compared as text (with
// schemas: after the API server's pruning and defaulting), and ~ is the same but for the values that webhookd keeps in
// annotations:
//
//   - L1 round trip: C(B->A)(C(A->B)(x)) = x, and no kept value is left over.
//   - L2 edit: for any object y at B, whatever it keeps (nothing, what a conversion kept of it or of another object, texts that
//     nobody can read), C(A->B)(C(B->A)(y)) ~ y: what the user says wins over what was kept.
//   - L3 visible: kept values of A and of third versions, and ones that are malformed, change nothing that is visible in
//     C(A->B)(x), and those of third versions pass as they are.
//   - L4 hub: C(A->B) = C(hub->B)(C(A->hub)); what the hub keeps of A is what B keeps of it.
//   - L5 identity: C(A->A) changes no byte.
//   - L6 nothing to prune: pruning C(A->B)(x) by the schema of B changes nothing.
//   - L7 total: no fragment fails: without any of its parts, without spec, without metadata, with null anywhere.
//   - L8 deterministic: the same bytes every time.
//   - L10 nothing hidden: let G be the way back from B to A without kept values, y what B shows now, and b what it showed when
//     something of A was kept. Where G(y) and G(b) differ, the result shows G(y); and where what comes of these without kept
//     values differs, so does what comes of the result.
//   - L11 growth: what was kept before rules were added comes back, and a replica without them loses nothing in between.
//   - L12 skew: a field that the API server knows in one version, and the converter in none, survives writes at the others.
//   - L13 well formed: whatever an object keeps, the result is of the types and the structure of its schema if it is without.
//   - L15 parts: an edit that B does not show changes one annotation, which no edit of another leaf changes.
//   - Metadata: all of it but labels and annotations keeps its text, and these are strings, labels valid ones.
//   - Source: the text that was converted is not written to.
//
// L6 and L10 to L15 need schemas. L9, that a converter is pure, is the linter's. L14, that what cannot be converted is contained,
// is for tests with an API server.
package roundtrip
