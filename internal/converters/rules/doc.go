// Package rules makes converters from Conversion files, which say as data how the versions of a CRD
// relate. Load reads the files, binds them to the CRDs and compiles them.
//
// Package syntax reads the files, check checks what they cover, and transform computes what one
// rule says. The engine is three packages, each of which uses the one before:
//
//   - binding finds the places of the rules in both schemas, and which of them belong together.
//   - plan compiles that into a program for each version and direction, and a layout of each
//     version.
//   - exec runs a program over the text of an object. It does not look at parts that are the same
//     on both sides. With the layouts, package keep keeps what the program would lose, whatever the
//     rules do.
package rules
