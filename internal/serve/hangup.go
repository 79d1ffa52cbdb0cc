package serve

import (
	"context"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// reloadOnSignal has the rules and the certificate read whenever a signal asks for it, and tells what has become of them. It ends
// with ctx.
func (s *service) reloadOnSignal(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Again:
		}
		rules := s.rules.lookNow(ctx)
		certificate := reloadCertificate(ctx, s.source.Source)
		if ctx.Err() == nil {
			s.logger.Info("files read again on SIGHUP", zap.String("rules", rules), zap.String("certificate", certificate))
		}
	}
}

// reloadCertificate returns what has become of the files of the certificate; nothing where ctx ends first.
func reloadCertificate(ctx context.Context, source *tlsreload.Source) string {
	if !source.Followed() {
		return filesNone
	}
	reloaded, err := source.Reload(ctx)
	switch {
	case err != nil:
		return ""
	case reloaded.Err != nil:
		return filesKept
	case reloaded.Changed:
		return filesLoaded
	}
	return filesUnchanged
}
