package tlsreload

import "time"

// Hooks are optional functions that are told what a [Source] finds; metrics and logs adapt them.
// They are called by Open and Run only, one at a time, and once per change of state, never once
// per reading. They must not block: the next reading waits for them.
type Hooks struct {
	// Reloaded: another key pair is served from now on. Open calls it for the first pair.
	Reloaded func(Event)

	// ClientCAReloaded: another set of client CAs, with that many certificates, is in force from
	// now on. Open calls it for the first set.
	ClientCAReloaded func(certificates int)

	// Waiting: the pair on disk is not valid yet and is served from its NotBefore on.
	Waiting func(Event)

	// Failed: what is on disk cannot be used, and the last good pair stays. It is called again
	// only when the reason changes, or after Recovered.
	Failed func(error)

	// Recovered: the reason given to Failed is gone.
	Recovered func()

	// WatchFailed: the directory watch could not be made, or lost events. Changes are still found
	// by polling. It is called again only when the reason changes, or after WatchRestored.
	WatchFailed func(error)

	// WatchRestored: the watch works again.
	WatchRestored func()
}

// Event describes a key pair.
type Event struct {
	NotBefore time.Time // the leaf's validity
	NotAfter  time.Time

	// Fingerprint is the SHA-256 of the leaf's DER, in lower-case hexadecimal.
	Fingerprint string

	// Generation is the directory that ..data named; empty for plain files and a pair in memory.
	Generation string

	// GeneratedAt is when that generation was written: the modification time of its directory,
	// or of the newer of the two plain files, or the time given to SelfSigned.
	GeneratedAt time.Time
}

func (h *Hooks) reloaded(e Event) {
	if h.Reloaded != nil {
		h.Reloaded(e)
	}
}

func (h *Hooks) clientCAReloaded(certificates int) {
	if h.ClientCAReloaded != nil {
		h.ClientCAReloaded(certificates)
	}
}

func (h *Hooks) waiting(e Event) {
	if h.Waiting != nil {
		h.Waiting(e)
	}
}

func (h *Hooks) failed(err error) {
	if h.Failed != nil {
		h.Failed(err)
	}
}

func (h *Hooks) recovered() {
	if h.Recovered != nil {
		h.Recovered()
	}
}

func (h *Hooks) watchFailed(err error) {
	if h.WatchFailed != nil {
		h.WatchFailed(err)
	}
}

func (h *Hooks) watchRestored() {
	if h.WatchRestored != nil {
		h.WatchRestored()
	}
}
