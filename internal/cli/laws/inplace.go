package laws

import (
	"context"
	"fmt"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
)

// webhookInPlace returns the webhook that converts a CRD now, and its name for a person.
func webhookInPlace(ctx context.Context, p *voice.Program, o *compareOptions, reader *connect.Reader, crd string) (*connect.Webhook, string, error) {
	if o.theirs.Server != "" {
		e, err := o.theirs.Endpoint()
		return e, o.theirs.Server, err
	}
	live, err := crdwire.Read(ctx, reader.API, crd)
	if err != nil {
		return nil, "", err
	}
	target, is := crdwire.TargetOf(live)
	if !is {
		return nil, "", voice.Hint(fmt.Errorf("%s: no webhook in place, spec.conversion of the CRD names none", crd), "name one with --server")
	}
	e := &crdwire.Endpoint{Target: target, Bundle: crdwire.BundleOf(live)}
	if target.IsService() && !reader.API.InCluster {
		if e.Dial, err = reader.API.Forward(ctx, target.Namespace, target.Name, target.Port); err != nil {
			return nil, "", err
		}
	}
	return connect.Connected(e), target.String(), nil
}
