// Package builtin lists the kinds that are compiled in.
package builtin

import (
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/crontab"
	"github.com/crdconvert/webhookd/internal/converters/database"
)

// Kinds returns the kinds that are compiled in. To add one, add its folder beside this one and its line here.
func Kinds() []converters.Kind {
	return []converters.Kind{
		crontab.Kind("example.com", "v1beta1", "v1"),
		crontab.Kind("stable.example.com", "v1", "v2"),
		database.Kind(),
	}
}
