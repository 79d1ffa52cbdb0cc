// Package roundtrip holds converters to the conversion laws. A law is checked on one object at a time; objects come as
// iterators: samples, their fragments, random variants of them, or what any other generator yields. With the schemas of the
// versions, Suite.Fuzz makes the objects: valid ones at random, fragments and edits of them.
//
// The laws, where x is an object at version A, C converts, = is equality as JSON with number literals compared as text (with
// schemas: after the API server's pruning and defaulting), and ~ is the same but for the stashes that webhookd keeps in
// annotations:
//
//   - L1 round trip: C(B->A)(C(A->B)(x)) = x, and no stash is left over.
//   - L2 edit: for any object y at B, whatever stash it has (none, a fresh, a stale, a malformed one),
//     C(A->B)(C(B->A)(y)) ~ y: what the user says wins over what was kept.
//   - L3 visible: stashes of A and of third versions, and ones that are malformed, change nothing that is visible in C(A->B)(x),
//     and those of third versions pass as they are.
//   - L4 hub: C(A->B) = C(hub->B)(C(A->hub)); the stash of A that the hub has is that which B has.
//   - L5 identity: C(A->A) changes no byte.
//   - L6 nothing to prune: pruning C(A->B)(x) by the schema of B changes nothing.
//   - L7 total: no fragment fails: without any of its parts, without spec, without metadata, with null anywhere.
//   - L8 deterministic: the same bytes every time.
//   - Metadata: all of it but labels and annotations keeps its text, and these are strings, labels valid ones.
//   - Source: the text that was converted is not written to.
//
// L3 and L6 need schemas. L9, that a converter is pure, is the linter's.
package roundtrip
