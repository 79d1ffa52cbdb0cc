// Package laws has the packages that judge conversions: roundtrip (random objects, edits, and the
// laws that must hold for them), conformance (what any conversion webhook owes the API server) and
// diagnosis (which rule breaks a law, and what to do).
//
// They call converters as clients do, and share no code with the engine of kept values. Read
// roundtrip/laws.go first.
package laws
