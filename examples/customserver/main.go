// Command customserver is webhookd with converters written in Go: the kinds and the functions of gokinds,
// beside those that rules convert. Its command line is webhookd's.
package main

import (
	"context"
	"os"

	"github.com/crdconvert/webhookd/examples/customserver/gokinds"
	"github.com/crdconvert/webhookd/internal/cli"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// version is set by the linker (-X main.version=v1.2.3); without it the build info has it.
var version string

func main() {
	compiled := ruleset.Compiled{Kinds: gokinds.Kinds(), Functions: gokinds.Functions()}
	os.Exit(cli.Run(context.Background(), version, compiled, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
