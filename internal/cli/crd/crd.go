package crd

import (
	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// New returns the command crd.
func New(p *voice.Program) *cobra.Command {
	cmd := voice.NewGroup("crd", "Point CRDs at webhookd, show what they point at, and guard their kinds",
		`Point CustomResourceDefinitions at webhookd, in files and in a cluster, show what they point at, and print admission
policies for their kinds.

The Helm chart runs the commands that change a cluster in Jobs. Each Job has a ServiceAccount with only the permissions
that the command's help lists. The server itself has no access to the API.`)
	cmd.AddCommand(newCRDWireCommand(p), newCRDStatusCommand(p), newCRDApplyCommand(p), newCRDReleaseCommand(p),
		newCRDGuardCommand(p))
	return cmd
}
