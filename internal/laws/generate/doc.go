// Package generate makes objects at random from the schemas of a version, and random edits, walks,
// fragments and annotations. It converts nothing and judges nothing. Read generator.go first, then
// object.go.
package generate
