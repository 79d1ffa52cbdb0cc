package tlsreload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Files that are replaced one after the other are for a moment missing, cut short or not of one
// pair. So a bad reading is repeated before it is believed.
const (
	retries  = 5
	retryGap = 20 * time.Millisecond
)

// contents is one reading, judged as far as it can be without the clock.
type contents struct {
	pair       *pair
	pairErr    error
	clients    *clients
	clientsErr error
}

func (c *contents) err() error {
	return errors.Join(c.pairErr, c.clientsErr)
}

// inspect reads the files once. Parts that are byte for byte those of known are known's own.
func (v *volume) inspect(known *state) contents {
	var c contents
	var knownPair *pair
	var knownClients *clients
	if known != nil {
		knownPair, knownClients = known.pair, known.clients
	}
	f, err := v.read()
	switch {
	case err != nil:
		c.pairErr = err
	case knownPair.holds(&f):
		c.pair = knownPair
	default:
		c.pair, c.pairErr = parsed(&f, v.parsePair, v.dir)
	}
	switch {
	case v.clientCA == "" || v.inside && f.clientCA == nil && f.clientCAErr == nil:
		c.clients = knownClients
	case f.clientCAErr == nil && knownClients.holds(&f):
		c.clients = knownClients
	default:
		c.clients, c.clientsErr = parsed(&f, parseClients, v.clientCA)
	}
	return c
}

// parsed returns what parse makes of f, which is at path. A panic of a parser, at a file that is hostile or only odd, is an
// error: the process has a good pair to go on with.
func parsed[T any](f *files, parse func(*files) (*T, error), path string) (made *T, err error) {
	defer func() {
		if v := recover(); v != nil {
			made, err = nil, fmt.Errorf("parser panicked with %T, make the files anew: %s", v, path)
		}
	}()
	return parse(f)
}

// settle reads until the files are good or the retries are used up. Its error is that of ctx.
func (s *Source) settle(ctx context.Context) (contents, error) {
	for try := 0; ; try++ {
		c := s.volume.inspect(s.state.Load())
		err := c.err()
		if err == nil || try == retries || errors.Is(err, ErrNoDataLink) {
			return c, nil
		}
		select {
		case <-ctx.Done():
			return contents{}, context.Cause(ctx)
		case <-time.After(retryGap):
		}
	}
}

func (s *Source) reload(ctx context.Context) Reloaded {
	found, err := s.settle(ctx)
	if err != nil {
		return Reloaded{Err: err}
	}
	return s.apply(&found)
}

// apply puts what is good in force, keeps the last good for what is not, and tells the hooks.
func (s *Source) apply(found *contents) Reloaded {
	current := s.state.Load()
	if current == nil {
		current = &state{next: make(chan struct{})}
	}
	next := state{pair: current.pair, clients: current.clients, next: make(chan struct{})}
	problem := found.err()
	var waiting *pair

	if found.pairErr == nil {
		switch judge(current.pair, found.pair, s.opts.Now()) {
		case serve:
			next.pair = found.pair
		case wait:
			waiting = found.pair
		case expired:
			problem = errors.Join(problem, fmt.Errorf("certificate has expired, and the one served has not: %s", s.volume.dir))
		}
	}
	if found.clientsErr == nil {
		next.clients = found.clients
	}

	newPair, newClients := next.pair != current.pair, next.clients != current.clients
	if newPair || newClients {
		s.state.Store(&next)
		close(current.next)
	}
	if newPair {
		s.opts.Hooks.reloaded(next.pair.event)
	}
	if newClients {
		s.opts.Hooks.clientCAReloaded(next.clients.count)
	}
	s.told.waiting(&s.opts.Hooks, waiting)
	s.told.problem(&s.opts.Hooks, problem)
	return Reloaded{Changed: newPair || newClients, Err: problem}
}

// told remembers what the hooks know, so that each change of state is told once.
type told struct {
	failure      string
	waitingFor   string // fingerprint
	watchFailure string
}

func (t *told) waiting(h *Hooks, p *pair) {
	if p == nil {
		t.waitingFor = ""
		return
	}
	if p.event.Fingerprint != t.waitingFor {
		t.waitingFor = p.event.Fingerprint
		h.waiting(p.event)
	}
}

func (t *told) problem(h *Hooks, err error) {
	before := t.failure
	t.failure = text(err)
	switch {
	case t.failure == before:
	case err != nil:
		h.failed(err)
	default:
		h.recovered()
	}
}

func (t *told) watch(h *Hooks, err error) {
	before := t.watchFailure
	t.watchFailure = text(err)
	switch {
	case t.watchFailure == before:
	case err != nil:
		h.watchFailed(err)
	default:
		h.watchRestored()
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
