package tlsreload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// While files are replaced one after the other, they are missing, cut short, or do not belong
// together for a moment. So a bad reading is repeated before it counts.
const (
	retries  = 5
	retryGap = 20 * time.Millisecond
	// settleGap is the time for which a new pair of a plain folder must stay the same. A chain that
	// is cut between two certificates is a good pair as well.
	settleGap = 100 * time.Millisecond
)

// contents is one reading after all checks that need no clock.
type contents struct {
	pair       *pair
	pairErr    error
	clients    *clients
	clientsErr error
}

func (c *contents) err() error {
	return errors.Join(c.pairErr, c.clientsErr)
}

// inspect reads the files once. It reuses the parts of known whose bytes are the same.
func (o *Options) inspect(known *state) contents {
	var c contents
	f, err := o.read()
	switch {
	case err != nil:
		c.pairErr = err
	case known.pair.holds(&f):
		c.pair = known.pair
	default:
		c.pair, c.pairErr = parsed(&f, o.parsePair, o.Dir)
	}
	switch {
	case f.clientCA == nil && f.clientCAErr == nil, known.clients.holds(&f): // not read, or the same
		c.clients = known.clients
	default:
		c.clients, c.clientsErr = parsed(&f, parseClients, o.ClientCAFile)
	}
	return c
}

// parsed returns the result of parse for f, which is at path. It returns a panic of the parser as
// an error, because the process still has a good pair.
func parsed[T any](f *files, parse func(*files) (*T, error), path string) (made *T, err error) {
	defer func() {
		if v := recover(); v != nil {
			made, err = nil, fmt.Errorf("%s: the parser panicked with %T, write the files again", path, v)
		}
	}()
	return parse(f)
}

// inspectPatiently reads until the files are good and settled, or the retries are used up. Its only
// error is ctx's.
func (s *Source) inspectPatiently(ctx context.Context) (contents, error) {
	known := s.state.Load()
	var last *pair
	for bad, unsettled := 0, 0; ; {
		c := s.opts.inspect(known)
		gap := retryGap
		switch settled := c.settled(known, last); {
		case !settled && unsettled == retries:
			c.pair, c.pairErr = nil, fmt.Errorf("%s: the key pair keeps changing while it is read", s.opts.Dir)
			return c, nil
		case !settled:
			gap, unsettled = settleGap, unsettled+1
		case c.err() == nil, bad == retries:
			return c, nil
		default:
			bad++
		}
		last = c.pair
		select {
		case <-ctx.Done():
			return contents{}, context.Cause(ctx)
		case <-time.After(gap):
		}
	}
}

// settled reports whether the pair can be used: it is that of a volume, which changes in one step,
// the one in use, or the last that was read.
func (c *contents) settled(known *state, last *pair) bool {
	return c.pair == nil || c.pair.event.Generation != "" || c.pair == known.pair ||
		last.holds(&files{cert: c.pair.certPEM, key: c.pair.keyPEM})
}

func (s *Source) reload(ctx context.Context) {
	if found, err := s.inspectPatiently(ctx); err == nil {
		s.apply(&found)
	}
}

// apply puts the good parts in force, keeps the last good version of the others, and calls the
// hooks.
func (s *Source) apply(found *contents) {
	read := time.Now()
	s.read.Store(&read)
	current := s.state.Load()
	next := *current
	problem := found.err()
	var waiting *pair

	if found.pairErr == nil {
		switch judge(current.pair, found.pair, s.opts.Now()) {
		case serve:
			next.pair = found.pair
		case wait:
			waiting = found.pair
		case expired:
			problem = errors.Join(problem, fmt.Errorf("%s: the certificate has expired, and the one served has not", s.opts.Dir))
		}
	}
	if found.clientsErr == nil {
		next.clients = found.clients
	}

	newPair, newClients := next.pair != current.pair, next.clients != current.clients
	s.state.Store(&next)
	hooks, reported := &s.opts.Hooks, &s.reported
	if newPair {
		call(hooks.Reloaded, next.pair.event)
	}
	if newClients {
		call(hooks.ClientCAReloaded, next.clients.count)
	}
	waitingFor := ""
	if waiting != nil {
		if waitingFor = waiting.event.Fingerprint; waitingFor != reported.waitingFor {
			call(hooks.Waiting, waiting.event)
		}
	}
	reported.waitingFor = waitingFor
	change(&reported.failure, problem, hooks.Failed, hooks.Recovered)
}
