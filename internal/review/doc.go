// Package review implements the conversion webhook protocol of kube-apiserver. It decodes a
// ConversionReview of apiextensions.k8s.io/v1 or v1beta1, converts each object through the
// converter of its kind, guards the metadata, and encodes the answer. A Reviewer works on bytes,
// without net/http, so the command line, tests and fuzzing share it. NewHandler makes it an
// http.Handler.
//
// The protocol is k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.ConversionReview, as its
// client checks it in pkg/apiserver/conversion/webhook_converter.go (v0.37).
package review
