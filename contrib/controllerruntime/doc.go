// Package controllerruntime converts the Go types of a controller-runtime manager without loss.
//
// [Kinds] takes what kubebuilder's projects have: a scheme of Go types that implement
// controller-runtime's conversion.Hub and conversion.Convertible, or its typed spoke converters,
// and the CRDs that controller-gen writes of them. The conversion functions stay as they are. What
// they forget is kept in annotations: see [conversion.Lossless].
//
// [Handler] serves the kinds at a manager's /convert. A server of their own serves them with
// webhookd.Main(webhookd.WithKinds(kinds...)).
package controllerruntime
