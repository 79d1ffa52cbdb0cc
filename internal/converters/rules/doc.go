// Package rules makes converters of Conversion files: data that says how the versions of a CRD relate, instead of code. Load
// reads the files, checks them against the CRDs and compiles them.
//
// What the files say is in package syntax, whether it makes sense in package check, and what one rule computes in package
// transform. This package has the engine: a program per version and direction, made from the rules and both schemas, that
// edits the text of an object and looks into no part of it that is the same on both sides; and what makes every conversion
// lossless, whatever the rules do (see conversion).
package rules
