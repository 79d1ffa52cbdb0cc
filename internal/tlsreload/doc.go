// Package tlsreload serves a TLS key pair, and optionally a client CA, from a directory that is
// rewritten while the process runs: a Secret volume, as the kubelet writes it.
//
// A [Source] takes every file of a reading from one generation of the volume (package volume), so
// certificate and key always belong together.
//
// A watch on the directory finds a change. A watch can be missing, lost or overrun, so the
// directory is also read again every few seconds. Whatever goes wrong on disk, the last good pair
// is served for ever, the hooks are called once per change of state, and [Source.Run] goes on until
// its context ends. A handshake reads one atomic pointer: no lock and no I/O.
//
// Files are checked before they are served: a pair that no client could accept (a key that does not
// match, a damaged chain, a leaf for clients only, a leaf without names) never replaces a good one.
package tlsreload
