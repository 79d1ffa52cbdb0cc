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
	if known == nil {
		known = &state{}
	}
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
	case o.ClientCAFile == "", o.inside && f.clientCA == nil && f.clientCAErr == nil,
		f.clientCAErr == nil && known.clients.holds(&f):
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
			made, err = nil, fmt.Errorf("parser panicked with %T, write the files again: %s", v, path)
		}
	}()
	return parse(f)
}

// inspectPatiently reads until the files are good or the retries are used up. Its only error is
// ctx's.
func (s *Source) inspectPatiently(ctx context.Context) (contents, error) {
	for try := 0; ; try++ {
		c := s.opts.inspect(s.state.Load())
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
	found, err := s.inspectPatiently(ctx)
	if err != nil {
		return Reloaded{Err: err}
	}
	return s.apply(&found)
}

// apply puts the good parts in force, keeps the last good version of the others, and calls the
// hooks.
func (s *Source) apply(found *contents) Reloaded {
	current := s.state.Load()
	if current == nil {
		current = &state{}
	}
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
			problem = errors.Join(problem, fmt.Errorf("certificate has expired, and the one served has not: %s", s.opts.Dir))
		}
	}
	if found.clientsErr == nil {
		next.clients = found.clients
	}

	newPair, newClients := next.pair != current.pair, next.clients != current.clients
	if newPair || newClients {
		s.state.Store(&next)
	}
	hooks, reported := &s.opts.Hooks, &s.reported
	if newPair {
		call(hooks.Reloaded, next.pair.event)
	}
	if newClients {
		call(hooks.ClientCAReloaded, next.clients.count)
	}
	waitingFor := ""
	if waiting != nil {
		waitingFor = waiting.event.Fingerprint
	}
	if waitingFor != "" && waitingFor != reported.waitingFor {
		call(hooks.Waiting, waiting.event)
	}
	reported.waitingFor = waitingFor
	change(&reported.failure, problem, hooks.Failed, hooks.Recovered)
	return Reloaded{Changed: newPair || newClients, Err: problem}
}
