// Package apiclient is the API server's side of a conversion, for tests: the conversion client of
// kube-apiserver (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion) with its connections,
// its retries and its checks. Of the API server it has nothing else, so that a test starts in
// milliseconds.
//
// It connects to loopback only.
package apiclient
