// Package webhook runs webhookd for a test: the binary of this tree as a process of its own, or the
// same packages in the test's process where it needs converters that are not compiled in. Next to
// it are what a test puts in front of two replicas, and a reader of their metrics.
package webhook
