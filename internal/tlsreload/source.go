package tlsreload

import (
	"context"
	"crypto/tls"
	"errors"
	"sync/atomic"
	"time"
)

// A Source has the served key pair, and replaces it when the files change. Its methods are safe for
// concurrent use.
type Source struct {
	opts   Options // no Dir: a pair in memory
	bundle []byte

	state   atomic.Pointer[state]
	running atomic.Bool
	stale   chan struct{} // makes Run read the files now; nil for a pair in memory
	now     chan chan<- Reloaded

	reported reported // used by Open, then by Run
}

// state is the state for handshakes. It is replaced as a whole, never modified.
type state struct {
	pair    *pair
	clients *clients // nil: no client CA
}

// Open reads the first key pair, and the client CA if one is set. It fails, naming every problem,
// if the options or the files cannot be used; a certificate and a key that do not match have some
// time to do so, as while they are replaced one after the other. A leaf that has expired or is not
// valid yet is served all the same. ctx ends the wait. [Source.Run] follows changes.
func Open(ctx context.Context, opts Options) (*Source, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	s := &Source{opts: opts.withDefaults(), stale: make(chan struct{}, 1), now: make(chan chan<- Reloaded)}
	found, err := s.inspectPatiently(ctx)
	for began := time.Now(); err == nil && isMismatch(found.err()) && time.Since(began) < matchTime; {
		found, err = s.inspectPatiently(ctx)
	}
	if err := errors.Join(err, found.err()); err != nil {
		return nil, err
	}
	s.apply(&found)
	return s, nil
}

// matchTime is how long a certificate and a key at the start have to match.
const matchTime = 10 * time.Second

// A mismatchError says that a certificate and a key are each good, but do not match.
type mismatchError struct{ error }

func isMismatch(err error) bool {
	_, is := errors.AsType[*mismatchError](err)
	return is
}

// Certificate returns the served key pair, which callers must not modify. It takes no lock and does
// no I/O.
func (s *Source) Certificate() *tls.Certificate {
	return s.state.Load().pair.certificate
}

// Served describes the served key pair.
func (s *Source) Served() Event {
	return s.state.Load().pair.event
}

// Expected reads the files and returns the key pair that should be served: the one on disk if it is
// good and its time has come, else the current one. A readiness check compares it with the
// certificate of a handshake. Right after a change of the files the two differ: Expected then makes
// Run read the files at once, whatever the poll interval. It calls no hook and does not wait.
func (s *Source) Expected() *tls.Certificate {
	current := s.state.Load()
	if !s.Followed() {
		return current.pair.certificate
	}
	found := s.opts.inspect(current)
	if found.pairErr != nil || judge(current.pair, found.pair, s.opts.Now()) != serve {
		return current.pair.certificate
	}
	if found.pair != current.pair {
		select {
		case s.stale <- struct{}{}:
		default: // Run has not read them since the last time
		}
	}
	return found.pair.certificate
}

// Reloaded is the result of reading the files.
type Reloaded struct {
	Changed bool  // another key pair or client CA is in force
	Err     error // why the files on disk cannot be used
}

// Reload makes [Source.Run] read the files now and returns the result, which is empty for a pair in
// memory. If ctx ends first, for example because Run does not run, it returns ctx's error.
func (s *Source) Reload(ctx context.Context) (Reloaded, error) {
	if !s.Followed() {
		return Reloaded{}, nil
	}
	result := make(chan Reloaded, 1)
	select {
	case s.now <- result:
	case <-ctx.Done():
		return Reloaded{}, ctx.Err()
	}
	select {
	case reloaded := <-result:
		return reloaded, nil
	case <-ctx.Done():
		return Reloaded{}, ctx.Err()
	}
}

// Followed reports whether there are files for [Source.Run] to follow.
func (s *Source) Followed() bool { return s.opts.Dir != "" }

// CABundle returns the PEM bundle with which clients can verify a pair made by [SelfSigned], or nil
// for a pair from files, whose issuer only its owner knows.
func (s *Source) CABundle() []byte {
	return s.bundle
}
