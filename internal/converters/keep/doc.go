// Package keep keeps what one version of an object says and another version cannot, in annotations
// of the object at the other version, so that no conversion loses anything.
//
// Let x be an object at version A, y the result of converting x to version B, and g the result of
// the reverse conversion of y. Clients of A see g until someone edits y. Where g differs from x,
// the value of x has to be kept:
//
//   - [Diff] compares x with g and returns an [Entry] for each leaf that differs.
//   - [Stored] adds to the entries what g will be after the API server has filled in B's defaults.
//   - [Put] writes the entries into annotations of y.
//
// Later y, edited or not, is converted to A, and g is the result of that:
//
//   - [Take] removes the annotations from y and returns the entries of A.
//   - [Restore] puts the entries that are still valid back into g.
//
// Each conversion does both: Take, convert, Restore, convert back, Diff, Stored, Put. Each of them
// looks at an object once.
//
// # When an entry is valid
//
// An entry has a base: a digest of g at the time its value was kept. If g still has that digest, no
// one has edited the value, and it returns. Otherwise someone has, and g wins. So a kept value
// never hides an edit. If g has no value, the base is empty. An entry also has a digest of what B
// itself shows, since that may be edited without a change of g.
//
// Places that belong together are a [Unit], and the base of each is a digest of all of them. Every
// other leaf is its own unit.
//
// An entry also says how many steps of its path have to be there. It does not bring back a removed
// object or element, but it makes again what B has no place for.
//
// # Lists
//
// Elements with keys are identified by their keys. If keys repeat in x, they identify the first
// element with them. The others return behind one with their keys, or not at all. For other lists,
// an entry has the digests of all elements of g. Elements with the same digest are the same,
// wherever they are. An edited element is still the same if it is at its place and half of its
// leaves are unchanged.
//
// # What the package knows
//
// It knows objects, schemas and a [Layout]: which place of B is the counterpart of a place of A,
// what identifies the elements of a list, and the units. It does not know how conversions are made.
// Package plan makes layouts from rules, and conversion.Lossless makes them for converters in Go.
package keep
