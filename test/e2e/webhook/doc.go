// Package webhook builds webhookd for a test and runs it as a process of its own, with other
// converters compiled in where a test needs them. Next to it is what a test puts in front of two
// replicas.
package webhook
