package tlsreload

import (
	"context"
	"errors"
	"fmt"
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

	w := newWatch(s.opts.newNotifier, s.opts.watchedDirs())
	defer w.close()
	ticker := time.NewTicker(s.opts.PollInterval)
	defer ticker.Stop()

	s.reportWatch(w.arm())
	var asked chan<- Reloaded
	for {
		// Read after the watch is armed: earlier changes caused no event.
		reloaded := s.reload(ctx)
		if asked != nil {
			asked <- reloaded
			asked = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.changed:
		case asked = <-s.now:
		case err := <-w.trouble:
			// Events may be lost, so read the files now.
			s.reportWatch(fmt.Errorf("directory watch: %w", err))
		case <-ticker.C:
			s.reportWatch(w.arm())
		}
	}
}

func (s *Source) reportWatch(err error) {
	change(&s.reported.watchFailure, err, s.opts.Hooks.WatchFailed, s.opts.Hooks.WatchRestored)
}
