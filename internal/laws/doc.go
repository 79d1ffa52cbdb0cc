// Package laws has the packages that judge conversions. From the bottom: tree (decoded objects),
// generate (random objects, edits and walks), shrink (smaller ones), hold (the table of laws, and
// the judges), and on it compare (two converters, or an object there and back), conformance (what
// any conversion webhook owes the API server) and diagnosis (which rule breaks a law, and what to
// do). Nothing here serves, prints or reads files.
//
// They call converters as clients do, and share no code with the engine of kept values. Read
// hold/table.go first.
package laws
