package tlsreload

import "time"

// Hooks are optional functions that report events of a [Source], for metrics and logs. Only Open
// and Run call them, one at a time, and once per change of state, not per reading. They must not
// block: the next reading waits for them.
type Hooks struct {
	// Reloaded: another key pair is served from now on. Open calls it for the first pair.
	Reloaded func(Event)

	// ClientCAReloaded: another set of client CAs, with that number of certificates, is in force
	// from now on. Open calls it for the first set.
	ClientCAReloaded func(certificates int)

	// Waiting: the pair on disk is not valid yet. It is served from its NotBefore on.
	Waiting func(Event)

	// Failed: the files on disk cannot be used, and the last good pair stays. It is called again
	// only when the reason changes, or after Recovered.
	Failed func(error)

	// Recovered: the problem reported by Failed is gone.
	Recovered func()
}

// Event describes a key pair.
type Event struct {
	NotBefore time.Time // the leaf's validity
	NotAfter  time.Time

	// Fingerprint is the SHA-256 of the leaf's DER, in lower-case hexadecimal.
	Fingerprint string

	// Generation is the directory that ..data names; empty for plain files and for a pair in
	// memory.
	Generation string
}

func call[T any](hook func(T), with T) {
	if hook != nil {
		hook(with)
	}
}

// reported is the last state reported to the hooks, so each change is reported once.
type reported struct {
	failure    string
	waitingFor string // fingerprint
}

// change calls failed if the text of err differs from *last, or restored if err is nil again.
func change(last *string, err error, failed func(error), restored func()) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == *last {
		return
	}
	*last = text
	switch {
	case err != nil:
		call(failed, err)
	case restored != nil:
		restored()
	}
}
