// Package gokinds lists the kinds and the functions for rules that the custom server compiles in.
package gokinds

import (
	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/crontab"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
)

// Kinds returns the compiled-in kinds. To add one, add its folder next to this one and its line
// here. It panics if a CRD does not fit its converter.
func Kinds() []conversion.Kind {
	return []conversion.Kind{
		conversion.Must(crontab.Kind(crds.CronTabs, "v1beta1")),
		conversion.Must(crontab.Kind(crds.StableCronTabs, "v1")),
		conversion.Must(database.Kind(crds.Databases)),
	}
}
