// Package keep keeps what one version of an object says and another cannot, in annotations of the
// object at the other version, so that no conversion loses anything.
//
// Let x be an object at version A, y what it was converted to at version B, and g what the reverse
// conversion makes of y. Clients of A see g as long as nobody edits y. Where g is not x, the value
// of x has to be kept:
//
//   - [Diff] compares x with g and returns an [Entry] for each leaf that differs.
//   - [Stored] tells the entries what g will be once the API server has filled in the defaults of B.
//   - [Put] writes the entries into annotations of y.
//
// Later y is converted to A, edited or not, and g is what the conversion gives now:
//
//   - [Take] takes the annotations off y and returns the entries of A.
//   - [Restore] puts back into g those that are still valid.
//
// A conversion does both, for either version: Take, convert, Restore, convert back, Diff, Stored,
// Put. Each of them looks at an object once.
//
// # When an entry is valid
//
// An entry has a base: a digest of what g was when the value was kept. If g is the same now, nobody
// has edited the value, and it returns as it was. If g is another one, somebody has, and g stands. So
// nothing that was kept hides an edit. No value at all has the empty base. What B itself shows may be
// edited without a change of g, so an entry has a digest of that, too.
//
// Places that belong together are a [Unit]: the base of each is about all of them. Every other leaf
// is a unit by itself.
//
// An entry also says how many steps of its path have to be there. It does not bring back an object
// or an element that somebody has removed, but it does make again what B has no place for.
//
// # Lists
//
// Elements with keys are known by their keys. Of other elements an entry of the list has the digests
// of all of g's: those that show the same are the same, in their order or elsewhere, and an edited one
// is if it is in its place and half of its leaves are the same.
//
// # What the package knows
//
// It knows objects, schemas and a [Layout]: which place of B is the counterpart of a place of A, what
// tells the elements of a list apart, and the units. It does not know how conversions are made. Package
// plan makes layouts of rules, and converters.Lossless makes one for a converter in Go, of which nobody
// knows what it does.
package keep
