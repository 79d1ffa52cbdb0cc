// Package tlstest helps tests that need certificates: a CA, the pairs it issues, and a directory
// that changes the way the kubelet changes a Secret volume.
//
// The helpers fail the test themselves and so belong on its own goroutine.
package tlstest
