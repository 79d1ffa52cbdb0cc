// Package keep keeps what one version of an object says and another version cannot, in annotations
// of the object at the other version, so that no conversion loses anything.
//
// The reverse conversion is a function of the places that it reads. A kept value is its remembered
// result, stored with one digest of what was read: the inputs. If the inputs are the same, the
// remembered value returns. If not, someone has edited them, and the function's result is shown.
//
// Let x be an object at version A, y the result of converting x to version B, and g the result of
// the reverse conversion of y: what clients of A see until someone edits y. A conversion is one
// pass:
//
//   - [annotation.Take] removes the annotations of both versions from x, and returns the entries
//     of B.
//   - The caller converts x to y, and notes in a [Trace] where elements of lists come from.
//   - [Restore] puts the entries back into y whose inputs x still shows.
//   - The caller fills in the defaults of B ([crdschema.Node.Fill]).
//   - The caller converts y back to g.
//   - [Diff] compares x with g, and returns an entry for each leaf that differs, with the digest
//     of its inputs in y.
//   - [annotation.Put] writes these entries into annotations of y.
//
// # Inputs
//
// The inputs of a value are the counterpart of its place, or the places of B that its [Unit] has.
// Of some of these only their presence counts. A place that is absent adds nothing to the digest,
// and neither does a value that B's schema fills in, or the order of members. So a value of which B
// shows nothing has no inputs. It returns as long as B shows something of as many steps of its path
// as it did: a removed object or element does not come back.
//
// A value in what an expression makes is computed from places that are not known one by one. Such
// values may contradict x. [Restored.Claims] has their units, and the caller finds out by a further
// conversion without them.
//
// # Lists
//
// Elements with keys are known by their keys in g. If those repeat, or for a list without keys, an
// entry has a digest of each element that something is kept of, and of those that look like it: of
// what B shows of them. Elements are found again at their places, or else by their order. An edited
// element is still the same if half of its leaves are unchanged.
//
// # Other rules
//
// While replicas have different rules, each converts an object back by those that it was converted
// by: an [annotation.Mark] names them. Replicas that know only earlier rules need other entries, so
// an object may have both.
//
// # What the package knows
//
// Package annotation has the text of what is kept. This one knows objects, schemas and a [Layout]:
// which place of B is the counterpart of a place of A, what identifies the elements of a list, and
// the units. It does not know how conversions are made. Package plan makes layouts from rules, and
// conversion.Lossless makes them for converters in Go.
package keep
