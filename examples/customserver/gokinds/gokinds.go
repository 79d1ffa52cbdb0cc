// Package gokinds lists the kinds and the functions for rules that the custom server compiles in.
package gokinds

import (
	"github.com/crdconvert/webhookd/examples/customserver/crontab"
	"github.com/crdconvert/webhookd/examples/customserver/database"
	"github.com/crdconvert/webhookd/internal/converters"
)

// Kinds returns the kinds that are compiled in. To add one, add its folder beside this one and its line here.
func Kinds() []converters.Kind {
	return []converters.Kind{
		crontab.Kind("example.com", "v1beta1", "v1"),
		crontab.Kind("stable.example.com", "v1", "v2"),
		database.Kind(),
	}
}
