// Package rules makes converters of Conversion files: data that says how the versions of a CRD relate, instead of code. Load
// reads the files, checks them against the CRDs and compiles them.
//
// What the files say is in package syntax, whether it makes sense in package check, and what one rule computes in package
// transform. The engine is in three packages that stand on each other: binding finds the places of the rules in both schemas, plan
// makes a program for each version and direction of that, and exec runs it: it edits the text of an object, looks into no part of
// it that is the same on both sides, and is lossless whatever the rules do.
package rules
