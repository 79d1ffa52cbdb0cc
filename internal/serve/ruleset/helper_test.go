package ruleset

import (
	"context"
	"encoding/json"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/serve/library"
)

// exampleKinds has the kinds of examples/custom-server, and a function in the place of its own.
func exampleKinds() Compiled {
	kinds, err := library.Kinds(
		conversion.Must(crontab.Kind(crds.CronTabs, "v1beta1")),
		conversion.Must(crontab.Kind(crds.StableCronTabs, "v1")),
		conversion.Must(database.Kind(crds.Databases)),
	)
	if err != nil {
		panic(err)
	}
	none := func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) { return in, nil }
	return Compiled{Kinds: kinds, Functions: map[string]transform.GoFunc{"example.com/window": {ToHub: none, ToSpoke: none}}}
}
