package ruleset

import (
	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
)

// exampleKinds are the kinds and functions of examples/customserver.
func exampleKinds() Compiled {
	return Compiled{Kinds: gokinds.Kinds(), Functions: gokinds.Functions()}
}
