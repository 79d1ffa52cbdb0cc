package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/review/reviewclient"
)

func (e *serverEndpoint) remote(group string) hold.Remote {
	return conformance.Remote(group, e.post)
}

// try posts a review without objects, so that a webhook that cannot be called is one error and not
// one for each object. Any answer will do.
func (e *serverEndpoint) try(ctx context.Context, kind *converters.Kind) error {
	probe := crdwire.Probe{Kind: kind.GroupKind, To: kind.Versions[0]}
	_, err := e.post(ctx, probe.Review("v1"))
	if _, answered := errors.AsType[*reviewclient.StatusError](err); answered {
		return nil
	}
	return err
}

// webhookInPlace returns the webhook that converts a CRD now, and its name for a person.
func (p *program) webhookInPlace(ctx context.Context, o *compareOptions, reader *liveReader, crd string) (*serverEndpoint, string, error) {
	if o.theirs.server != "" {
		e, err := o.theirs.endpoint()
		return e, o.theirs.server, err
	}
	live, err := crdwire.Read(ctx, reader.api, crd)
	if err != nil {
		return nil, "", err
	}
	target, is := crdwire.TargetOf(live)
	if !is {
		return nil, "", hintError{fmt.Errorf("%s: no webhook in place, spec.conversion of the CRD names none", crd), "name one with --server"}
	}
	e := &crdwire.Endpoint{Target: target, Bundle: crdwire.BundleOf(live)}
	if target.IsService() && !reader.api.InCluster {
		if e.Dial, err = reader.api.Forward(ctx, target.Namespace, target.Name, target.Port); err != nil {
			return nil, "", err
		}
	}
	return &serverEndpoint{e, e.Client(true)}, target.String(), nil
}
