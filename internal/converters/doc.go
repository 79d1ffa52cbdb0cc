// Package converters holds what converts objects between the versions of their kind: the Converter interface and its
// obligations, the immutable Registry that finds one by group and kind, the route over the hub version, adapters for
// converters that work on *unstructured.Unstructured or on typed Go structs instead of text, and Lossless, which makes any
// converter lossless with package keep.
//
// It knows no HTTP, no logs, no metrics and no files. The kinds that are compiled in are listed in package kinds.
package converters
