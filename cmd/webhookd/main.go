// Command webhookd serves the conversion webhook of Kubernetes custom resources, and does its work
// offline: see webhookd --help.
package main

import (
	"context"
	"os"
)

// version is set by the linker (-X main.version=v1.2.3); without it the build info tells.
var version string

func main() {
	os.Exit(run(context.Background(), compiledIn{}, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
