// Package review speaks the conversion webhook protocol of kube-apiserver: it decodes a ConversionReview of
// apiextensions.k8s.io/v1 or v1beta1, converts each object through the converter of its kind, guards the metadata, and
// encodes the answer. Reviewer works on bytes and knows no net/http, so that the command line, tests and fuzzing share it;
// Handler puts it behind an http.Handler.
//
// The protocol is that of k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.ConversionReview as its client checks
// it in pkg/apiserver/conversion/webhook_converter.go (v0.37).
package review
