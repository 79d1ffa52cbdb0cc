package tlsreload

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// A Source has the served key pair, and replaces it when the files change. Its methods are safe for
// concurrent use.
type Source struct {
	opts   Options // no Dir: a pair in memory
	bundle []byte

	state atomic.Pointer[state]
	read  atomic.Pointer[time.Time] // when the files were read last

	reported reported // used by Open, then by Run
}

// state is the state for handshakes. It is replaced as a whole, never modified.
type state struct {
	pair    *pair
	clients *clients // nil: no client CA
}

// Open reads the first key pair, and the client CA if one is set. It fails, naming every problem,
// if the files cannot be used; a certificate and a key that do not match have some
// time to do so, as while they are replaced one after the other. A leaf that has expired or is not
// valid yet is served all the same. ctx ends the wait. [Source.Run] follows changes.
func Open(ctx context.Context, opts Options) (*Source, error) {
	s := &Source{opts: opts.withDefaults()}
	s.state.Store(&state{})
	found, err := s.inspectPatiently(ctx)
	for began := time.Now(); isMismatch(found.err()) && time.Since(began) < matchTime; {
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

// unreadFor is how old the last reading of the files may be.
const unreadFor = time.Minute

// Ready returns an error if no client can accept the served leaf now, or if the files are no longer
// read: others kept an old certificate for days (gatekeeper#1045, rook#10719, linkerd2#5888). It is
// for a readiness check.
func (s *Source) Ready() error {
	served, now := s.Served(), s.opts.Now()
	switch {
	case now.Before(served.NotBefore):
		return fmt.Errorf("the certificate is not valid before %s", served.NotBefore.UTC().Format(time.RFC3339))
	case now.After(served.NotAfter):
		return fmt.Errorf("the certificate expired at %s", served.NotAfter.UTC().Format(time.RFC3339))
	case s.Followed() && time.Since(*s.read.Load()) > unreadFor:
		return fmt.Errorf("%s: the certificate has not been read for %s", s.opts.Dir, unreadFor)
	}
	return nil
}

// Followed reports whether there are files for [Source.Run] to follow.
func (s *Source) Followed() bool { return s.opts.Dir != "" }

// CABundle returns the PEM bundle with which clients can verify a pair made by [SelfSigned], or nil
// for a pair from files, whose issuer only its owner knows.
func (s *Source) CABundle() []byte {
	return s.bundle
}
