package gokinds

import (
	"github.com/crdconvert/webhookd/conversion/rules"
	"github.com/crdconvert/webhookd/examples/custom-server/window"
)

// Functions returns the functions that conversion rules call with `go: NAME`. To add one, write it
// in a folder next to this one and add its line here.
func Functions() map[string]rules.Function {
	return map[string]rules.Function{
		"example.com/window": window.Function(),
	}
}
