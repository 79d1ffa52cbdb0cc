// Package voice is how all verbs speak: results on stdout, messages on stderr that begin with
// "webhookd: ", hints, exit codes, colors, progress, and what their command lines have in common.
// It knows no files and no cluster.
package voice
