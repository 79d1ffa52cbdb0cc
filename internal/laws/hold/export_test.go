package hold

import (
	"context"

	"github.com/crdconvert/webhookd/internal/laws/generate"
)

// Walk holds the kind to the laws on a walk. It needs the schemas of the versions.
func (s Suite) Walk(ctx context.Context, w *generate.Walk) error {
	b, err := s.Prepare()
	if err != nil {
		return err
	}
	if found := b.replay(ctx, w); found != nil {
		return found
	}
	return nil
}
