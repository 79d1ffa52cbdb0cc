// Command webhookd serves the conversion webhook of Kubernetes custom resources, and does its work
// offline: see webhookd --help.
package main

import (
	"context"
	"os"

	"github.com/crdconvert/webhookd/internal/cli"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

// version is set by the linker (-X main.version=v1.2.3); without it the build info has it.
var version string

func main() {
	os.Exit(cli.Run(context.Background(), version, ruleset.Compiled{}, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
