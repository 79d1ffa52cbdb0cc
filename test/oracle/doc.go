// Package oracle proves webhookd against the client that calls it in a cluster: the conversion
// client of kube-apiserver (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion) runs in the
// test process and talks to the real server over TLS on loopback. What this client takes, the API
// server takes; what it says, the user reads. It does in particular what no client of ours would:
// it checks each object of an answer, restores metadata, repeats a 429, and quotes our messages.
//
// The tests hold that
//
//   - every golden of testdata/conversionreviews is what the caller of the client gets, by both
//     kinds of clientConfig: fragments, lists of mixed versions, items, integers that no float64
//     holds (golden_test.go, goldenfile_test.go);
//   - an overloaded server is called again, and for how long (overload_test.go);
//   - whatever a converter does, the client takes what we call a success, with its labels and
//     annotations (fuzz).
//
// Replicas that drain, certificates that change and other faults of a cluster are in faults.
//
// It is a module of its own, so that the some 600 packages of the API server's client stay out of
// the product's go.mod. The first compilation takes minutes, the tests themselves well under one.
package oracle
