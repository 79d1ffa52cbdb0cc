package cli

import (
	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/editor/lsp"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

func newLSPCommand(p *program) *cobra.Command {
	var ruled ruleFlags
	cmd := &cobra.Command{
		Use:   "lsp [--crds PATH]",
		Short: "Serve an editor: findings, completion and hover",
		Long: `Speak the Language Server Protocol on stdin and stdout. Editors start it. It reports what check finds, completes the
words of the format and paths from the schemas of both versions, and says on hover what becomes of a field in each direction.

CRDs are those of --crds, of the initialization option crds, or of the files in the folder of the document, above it and
next to it.`,
		Example: `  webhookd lsp
  webhookd lsp --crds config/crd/bases`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return lsp.Serve(cmd.Context(), p.stdin, p.stdout, lsp.Options{
				CRDs: ruled.crds, Version: p.build.String(), Load: ruleset.WithoutPanics(p.compiled.Load),
			})
		},
	}
	ruled.addCRDs(cmd.Flags(), " (default those near each document)")
	return cmd
}
