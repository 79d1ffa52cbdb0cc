package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/ruleset"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// program is what a verb gets of the world.
type program struct {
	environ        []string // as os.Environ returns it
	stdin          io.Reader
	stdout, stderr io.Writer
	build          build
	compiled       ruleset.Compiled
}

// Run is the whole program: it carries out args with environ, as os.Environ returns it, writes results to
// stdout and everything else to stderr, and returns the exit code. It ends when ctx does. The version may
// be empty: then the build info has it.
func Run(ctx context.Context, version string, compiled ruleset.Compiled, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr, build: readBuild(version), compiled: compiled}
	root := newRootCommand(p)                 //nolint:contextcheck // cobra hands it to each verb
	root.SetArgs(append([]string{}, args...)) // nil would mean os.Args
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return report(stderr, root.ExecuteContext(ctx))
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "webhookd",
		Short: "Convert Kubernetes custom resources between the versions of their CRD",
		Long: `webhookd answers the ConversionReviews that kube-apiserver sends to the conversion webhook of a
CustomResourceDefinition, and converts the same objects offline. Converters are compiled in, or made of rules in
Conversion files: suggest writes one to begin with, check, explain, test and fuzz tell what it is worth.

Results go to stdout, all else to stderr. The exit code is 0 if all went well, 1 if something failed, and 2
if the command line or the configuration is wrong.`,
		Version:       p.build.String(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
		Args:          unknownCommand,
		RunE: func(*cobra.Command, []string) error {
			return usage(errors.New("no command given"), "webhookd --help lists the commands")
		},
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	root.AddCommand(
		newServeCommand(p),
		newConvertCommand(p),
		newReviewCommand(p),
		newCheckCommand(p),
		newSuggestCommand(p),
		newExplainCommand(p),
		newTestCommand(p),
		newFuzzCommand(p),
		newCRDCommand(p),
		newCertsCommand(p),
		newConfigCommand(p),
		newVersionCommand(p),
	)
	addCompletion(root)
	return root
}
