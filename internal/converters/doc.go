// Package converters converts objects between the versions of their kind. It has the Converter
// interface, the immutable Registry that finds a converter by group and kind, and the route over
// the hub version. Package conversion has converters in Go, and package rules those of rules.
//
// It knows no HTTP, logs, metrics or files.
package converters
