package tlsreload

import (
	"context"
	"errors"
	"time"
)

// Run follows the files until ctx is done, then returns nil. No change of the files ends it. It
// returns an error only if it is already running.
func (s *Source) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("key pair is already being followed")
	}
	defer s.running.Store(false)
	if !s.Followed() {
		<-ctx.Done()
		return nil
	}

	for ticker := time.NewTicker(s.opts.PollInterval); ; {
		s.reload(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
