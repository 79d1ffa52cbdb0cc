// Package tlsreload serves a TLS key pair, and optionally a client CA, from a directory that is
// rewritten while the process runs: a Secret volume, as the kubelet writes it.
//
// A volume changes in one step: the kubelet writes a new directory, points the ..data link at it
// with a rename, and removes the old directory (Kubernetes pkg/volume/util/atomic_writer.go). The
// visible files are links through ..data and never change themselves. So a [Source] reads ..data
// once and takes every file from the directory it names: certificate and key are always of one
// generation.
//
// A change is found by a watch on the directory and, because a watch can be missing, lost or
// overrun, by reading the directory again every few seconds as well. Whatever goes wrong on disk,
// the last good pair is served for ever, the hooks tell once per change of state, and [Source.Run]
// goes on until its context ends. A handshake reads one atomic pointer: no lock and no I/O.
//
// Files are judged before they are served: what no client could accept (a key that does not match,
// a damaged chain, a leaf for clients only, a leaf without names) never takes the place of a good
// pair.
package tlsreload
