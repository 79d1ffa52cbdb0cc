package tlsreload

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run follows the files until ctx is done, then returns nil. Nothing that happens to the files ends
// it earlier. Its only error is for a second call while the first one runs.
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
		// Read after the watch is armed: what changed before that made no event.
		reloaded := s.reload(ctx)
		if asked != nil {
			asked <- reloaded
			asked = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-w.changed:
		case <-s.stale:
		case asked = <-s.now:
		case err := <-w.trouble:
			// Events may be lost, so the files are read now.
			s.reportWatch(fmt.Errorf("directory watch: %w", err))
		case <-ticker.C:
			s.reportWatch(w.arm())
		}
	}
}

func (s *Source) reportWatch(err error) {
	change(&s.reported.watchFailure, err, s.opts.Hooks.WatchFailed, s.opts.Hooks.WatchRestored)
}
