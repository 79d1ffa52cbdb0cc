package gokinds

import (
	"github.com/crdconvert/webhookd/examples/customserver/window"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// Functions returns the functions that conversion rules know by `go: NAME`. To add one, write it in a folder beside this
// one and add its line here. The map must not be changed.
func Functions() map[string]transform.GoFunc {
	return map[string]transform.GoFunc{
		"example.com/window": window.Function(),
	}
}
