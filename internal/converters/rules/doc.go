// Package rules makes converters of Conversion files: data that says how the versions of a CRD relate, instead of code. Load
// reads the files, checks them against the CRDs and compiles them.
//
// Package syntax has what the files say, check whether it makes sense, and transform what one rule
// computes. The engine is in three packages that stand on each other:
//
//   - binding finds the places of the rules in both schemas, and which of them belong together.
//   - plan makes a program of that for each version and direction, and a layout of each version.
//   - exec runs a program over the text of an object. It looks into no part that is the same on both
//     sides. With the layouts, package keep keeps what the program would lose, whatever the rules do.
package rules
