package author

import (
	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/editor/lsp"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewLSP returns the command lsp.
func NewLSP(p *voice.Program) *cobra.Command {
	var ruled offline.Flags
	cmd := &cobra.Command{
		Use:   "lsp [--crds PATH]",
		Short: "Serve an editor: findings, completion and hover",
		Long: `Speak the Language Server Protocol on stdin and stdout. Editors start it. It reports what check finds, completes the
words of the format and paths from the schemas of both versions, and says on hover what becomes of a field in each direction.

CRDs are those of --crds, of the initialization option crds, or of the files in the folder of the document, above it and
next to it.`,
		Example: `  webhookd lsp
  webhookd lsp --crds config/crd/bases`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), p.Stdin, p.Stdout, lsp.Options{
				CRDs: ruled.CRDs, Version: p.Build.String(), Load: ruleset.WithoutPanics(p.Compiled.Load),
			})
		},
	}
	ruled.AddCRDs(cmd.Flags(), " (default those near each document)")
	return cmd
}
