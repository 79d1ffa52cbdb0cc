// Package converters converts objects between the versions of their kind. It has the Converter
// interface, the immutable Registry that finds a converter by group and kind, the route over the
// hub version, adapters for functions over *unstructured.Unstructured or typed Go structs, and
// Lossless, which makes any converter lossless with package keep.
//
// It knows no HTTP, logs, metrics or files. A program lists the kinds that it compiles in.
package converters
