package tlsreload

import (
	"context"
	"time"
)

// Run follows the files until ctx is done. No change of the files ends it. It must not be called
// twice at a time.
func (s *Source) Run(ctx context.Context) {
	if !s.Followed() {
		return
	}

	for ticker := time.NewTicker(s.opts.PollInterval); ; {
		s.reload(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
