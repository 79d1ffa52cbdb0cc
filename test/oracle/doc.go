// Package oracle proves webhookd against the client that calls it in a cluster: the conversion
// client of kube-apiserver (k8s.io/apiextensions-apiserver/pkg/apiserver/conversion) runs in the
// test process and talks to the real server over TLS on loopback. What this client takes, the API
// server takes; what it says, the user reads. It does in particular what no client of ours would:
// it checks each object of an answer, restores metadata, repeats a 429, pools connections, and
// quotes our messages.
//
// The tests hold, in the order of the files, that
//
//   - both kinds of clientConfig and both versions of ConversionReview work, and what is negotiated
//     (reference_test.go);
//   - every golden of testdata/conversionreviews is what the caller of the client gets
//     (golden_test.go, goldenfile_test.go);
//   - fragments, lists of mixed versions, objects with top-level items and integers that no float64
//     holds come through (fragment_test.go);
//   - labels and annotations may be converted and no other metadata, which is restored
//     (metadata_test.go);
//   - each class of failure shows its user the message that the documentation quotes
//     (message_test.go);
//   - an overloaded server is called again, and for how long (overload_test.go);
//   - a server that drains, a certificate or CA that is replaced, and a connection that has come of
//     age fail no call under load (drain_test.go, certificate_test.go, connectionage_test.go);
//   - the same is true of the binary as a process (process_test.go).
//
// It is a module of its own, so that the some 600 packages of the API server's client stay out of
// the product's go.mod. The first compilation takes minutes, the tests themselves well under one.
package oracle
