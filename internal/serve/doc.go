// Package serve wires the server: configuration, log, metrics, certificates, rules and the listeners. It
// follows the files that it was started with and takes changes over while it serves.
package serve
