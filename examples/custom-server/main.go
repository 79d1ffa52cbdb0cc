// Command custom-server is webhookd with converters in Go: the kinds and functions of gokinds, in
// addition to kinds that rules convert. It has webhookd's command line.
package main

import (
	"os"

	"github.com/crdconvert/webhookd"
	"github.com/crdconvert/webhookd/examples/custom-server/gokinds"
)

func main() {
	os.Exit(webhookd.Main(
		webhookd.WithKinds(gokinds.Kinds()...),
		webhookd.WithFunctions(gokinds.Functions()),
	))
}
