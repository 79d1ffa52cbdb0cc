package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/author"
	"github.com/crdconvert/webhookd/internal/cli/cases"
	"github.com/crdconvert/webhookd/internal/cli/check"
	"github.com/crdconvert/webhookd/internal/cli/convert"
	"github.com/crdconvert/webhookd/internal/cli/crd"
	"github.com/crdconvert/webhookd/internal/cli/kept"
	"github.com/crdconvert/webhookd/internal/cli/laws"
	"github.com/crdconvert/webhookd/internal/cli/review"
	"github.com/crdconvert/webhookd/internal/cli/rewrite"
	"github.com/crdconvert/webhookd/internal/cli/serve"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Run is the whole program. It runs args, of which the first is the program's name as in os.Args,
// with environ, in the form of os.Environ, writes results to stdout and everything else to stderr,
// and returns the exit code. It ends when ctx does. An empty version is read from the build info.
//
// kubectl runs a program named kubectl-webhookd as `kubectl webhookd`. It runs
// kubectl_complete-webhookd for the words that may follow.
func Run(ctx context.Context, version string, compiled ruleset.Compiled, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &voice.Program{Environ: environ, Stdin: stdin, Stdout: stdout, Stderr: stderr, Build: voice.ReadBuild(version), Compiled: compiled}
	root := newRootCommand(p) //nolint:contextcheck // cobra hands it to each verb
	name, args := strings.TrimSuffix(filepath.Base(args[0]), ".exe"), args[1:]
	switch {
	case strings.HasPrefix(name, "kubectl-"):
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl webhookd"}
	case strings.HasPrefix(name, "kubectl_complete-"):
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	return p.Report(root.ExecuteContext(ctx))
}

func newRootCommand(p *voice.Program) *cobra.Command {
	root := &cobra.Command{
		Use:   "webhookd",
		Short: "Convert Kubernetes custom resources between the versions of their CRD",
		Long: `webhookd answers the ConversionReviews that kube-apiserver sends to the conversion webhook of a
CustomResourceDefinition. It also converts objects offline. Converters are compiled in, or come from rules in Conversion
files: suggest writes a first draft of one; check, explain, test and fuzz show how good it is.

Results go to stdout, everything else to stderr. The exit code is 0 on success, 1 if something failed, and 2 if the
command line or the configuration is wrong.`,
		Version:       p.Build.String(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
	}
	voice.MakeGroup(root)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpFunc(printHelp)
	p.Color = voice.ColorAuto
	root.PersistentFlags().Var(&p.Color, "color", "`when` to color the output: auto (on a terminal, unless NO_COLOR is set), always or never")
	voice.Offer(root, "color", voice.ColorAuto, voice.ColorAlways, voice.ColorNever)
	addVerbs(root, "Write rules", author.NewSuggest(p), check.New(p), check.NewExplain(p), author.NewPlayground(p), author.NewLSP(p))
	addVerbs(root, "Prove them", cases.New(p), laws.NewFuzz(p), laws.NewCompare(p), review.New(p))
	addVerbs(root, "Run", serve.New(p), convert.New(p), rewrite.New(p), kept.New(p), serve.NewConfig(p), newVersion(p))
	addVerbs(root, "In a cluster", crd.New(p), crd.NewMigrate(p), crd.NewCerts(p))
	addCompletion(root, "Run")
	var prepare func(cmd *cobra.Command)
	prepare = func(cmd *cobra.Command) {
		cmd.Flags().SortFlags = false
		if cmd.Args == nil {
			cmd.Args = voice.NoArguments
		}
		aliasCRDs(cmd)
		completeNames(p, cmd)
		for _, sub := range cmd.Commands() {
			prepare(sub)
		}
	}
	prepare(root)
	return root
}

// addVerbs adds verbs below a title of the help.
func addVerbs(root *cobra.Command, title string, verbs ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, verb := range verbs {
		verb.GroupID = title
	}
	root.AddCommand(verbs...)
}

func newVersion(p *voice.Program) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "version [-o text|json]",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			if output == "json" {
				return p.PrintJSON(p.Build)
			}
			if err := voice.CheckOutput(output, "text", "json"); err != nil {
				return err
			}
			_, err := fmt.Fprintln(p.Stdout, "webhookd version", p.Build)
			return err
		},
	}
	voice.AddOutput(cmd, &output, "text", "json")
	return cmd
}
