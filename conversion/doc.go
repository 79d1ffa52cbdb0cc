// Package conversion converts objects of custom resources between the versions of their kind.
//
// A [Converter] rewrites one object, in place. [Func] makes one of a function over the text of an
// object, [FromUnstructured] of a function over unstructured objects, and [HubSpoke] of functions
// between Go types. [Lossless] makes a [Kind] of any of them that loses nothing, whatever the
// converter does: it keeps in annotations what the way back would lose.
//
// A [Kind] can be served by webhookd's own server (package webhookd), by a handler in another
// server (package conversion/webhook), and held to the laws of conversion in a test (package
// conversion/conversiontest).
//
// Objects are text ([Object]). What no converter touches leaves byte for byte: integers beyond
// 2^53, 1.10, the order of fields, unknown fields.
package conversion
