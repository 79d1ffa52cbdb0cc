// Command customserver is webhookd with converters in Go: the kinds and functions of gokinds, in
// addition to kinds that rules convert. It has webhookd's command line.
package main

import (
	"context"
	"os"

	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
	"github.com/crdconvert/webhookd/internal/cli"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// version is set by the linker (-X main.version=v1.2.3). If it is empty, the version comes from the
// build info.
var version string

func main() {
	compiled := ruleset.Compiled{Kinds: gokinds.Kinds(), Functions: gokinds.Functions()}
	os.Exit(cli.Run(context.Background(), version, compiled, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
