// Command webhookd serves the conversion webhook of Kubernetes custom resources, and converts
// offline: see webhookd --help.
package main

import (
	"os"

	"github.com/crdconvert/webhookd"
)

// version is set by the linker (-X main.version=v1.2.3). If it is empty, the version comes from the
// build info.
var version string

func main() { os.Exit(webhookd.Main(webhookd.WithVersion(version))) }
