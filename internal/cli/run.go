package cli

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// program holds what a verb needs from its environment.
type program struct {
	environ        []string // as os.Environ returns it
	stdin          io.Reader
	stdout, stderr io.Writer
	build          build
	compiled       ruleset.Compiled
	color          colorFlag
}

// Run is the whole program. It runs args, of which the first is the program's name as in os.Args,
// with environ, in the form of os.Environ, writes results to stdout and everything else to stderr,
// and returns the exit code. It ends when ctx does. An empty version is read from the build info.
//
// kubectl runs a program named kubectl-webhookd as `kubectl webhookd`. It runs
// kubectl_complete-webhookd for the words that may follow.
func Run(ctx context.Context, version string, compiled ruleset.Compiled, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{environ: environ, stdin: stdin, stdout: stdout, stderr: stderr, build: readBuild(version), compiled: compiled}
	root := newRootCommand(p) //nolint:contextcheck // cobra hands it to each verb
	name, args := strings.TrimSuffix(filepath.Base(args[0]), ".exe"), args[1:]
	switch {
	case strings.HasPrefix(name, "kubectl-"):
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl webhookd"}
	case strings.HasPrefix(name, "kubectl_complete-"):
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(p.renamed(root, args))
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return p.report(root.ExecuteContext(ctx))
}

func newRootCommand(p *program) *cobra.Command {
	root := &cobra.Command{
		Use:   "webhookd",
		Short: "Convert Kubernetes custom resources between the versions of their CRD",
		Long: `webhookd answers the ConversionReviews that kube-apiserver sends to the conversion webhook of a
CustomResourceDefinition. It also converts objects offline. Converters are compiled in, or come from rules in Conversion
files: suggest writes a first draft of one; check, explain, test and fuzz show how good it is.

Results go to stdout, everything else to stderr. The exit code is 0 on success, 1 if something failed, and 2 if the
command line or the configuration is wrong.`,
		Version:       p.build.String(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
	}
	makeGroup(root)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpFunc(printHelp)
	p.color = colorAuto
	root.PersistentFlags().Var(&p.color, "color", "`when` to color the output: auto (on a terminal, unless NO_COLOR is set), always or never")
	offer(root, "color", colorAuto, colorAlways, colorNever)
	addVerbs(root, "Write rules", newSuggestCommand(p), newCheckCommand(p), newExplainCommand(p), newPlaygroundCommand(p), newLSPCommand(p))
	addVerbs(root, "Prove them", newTestCommand(p), newFuzzCommand(p), newCompareCommand(p), newReviewCommand(p))
	addVerbs(root, "Run", newServeCommand(p), newConvertCommand(p), newRewriteCommand(p), newKeptCommand(p), newConfigCommand(p), newVersionCommand(p))
	addVerbs(root, "In a cluster", newCRDCommand(p), newMigrateCommand(p), newCertsCommand(p))
	addCompletion(root, "Run")
	aliasCRDs(root)
	p.completeNames(root)
	return root
}

// renamed returns a command line with the names that webhookd has now, and notes an earlier one.
func (p *program) renamed(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "convert" {
		return args
	}
	words := []string{"rewrite"}
	for _, word := range rest {
		if value, is := strings.CutPrefix(word, "--in-place"); is {
			word = "--filename" + value
		}
		words = append(words, word)
	}
	if slices.Equal(words[1:], rest) {
		return args
	}
	p.note("convert --in-place is deprecated, write webhookd rewrite instead")
	return words
}
