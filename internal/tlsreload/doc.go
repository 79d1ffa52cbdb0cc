// Package tlsreload serves a TLS key pair, and optionally a client CA, from a directory that
// changes while the process runs: a Secret volume, as the kubelet writes it, or a plain folder.
//
// A [Source] reads all files from one generation of the volume (package volume), so certificate and
// key always belong together. In a plain folder they must match, and stay the same for a moment.
//
// The directory is read every few seconds: a watch can be missing, lost or overrun. Whatever goes
// wrong on disk, the last good pair stays in use, the hooks are called once per change of state,
// and [Source.Run] continues until its context ends. A handshake reads one atomic pointer: no lock
// and no I/O.
//
// Files are checked first: a pair that no client could accept (a key that does not match, a damaged
// chain, a leaf for clients only, a leaf without names) never replaces a good one.
package tlsreload
