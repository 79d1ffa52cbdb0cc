package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// GoalFlags say which objects are converted, and to what. They are the same for all verbs that
// convert files.
type GoalFlags struct {
	Files []string
	To    string
	Ruled Flags
	// defaults is defaultsWrite, defaultsIgnore or empty.
	Defaults      string
	Diff, Verbose bool
}

// Add adds the flags. The usage of --filename is the verb's own.
func (g *GoalFlags) Add(cmd *cobra.Command, files string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&g.Files, "filename", "f", nil, files+"; may be given more than once; same as an argument")
	voice.FilesAfter(cmd, "filename")
	flags.StringVar(&g.To, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	g.Ruled.Add(flags)
	flags.StringVar(&g.Defaults, "defaults", "", "`choice`: write fields that a file leaves out and whose defaults mean something else at the\nversion, or ignore them (default: name them)")
	voice.Offer(cmd, "defaults", defaultsWrite, defaultsIgnore)
	flags.BoolVar(&g.Diff, "diff", false, "print a unified diff instead of the result")
	flags.BoolVarP(&g.Verbose, "verbose", "v", false, "say which values are kept in annotations, and which ones rules drop")
}

// Target splits --to. The group may be empty.
func (g *GoalFlags) Target() (group, version string) {
	if before, after, ok := strings.Cut(g.To, "/"); ok {
		return before, after
	}
	return "", g.To
}

// CheckVersion reports a wrong --to.
func (g *GoalFlags) CheckVersion() error {
	_, version := g.Target()
	switch {
	case g.To == "":
		return errors.New("no version to convert to: give one with --to, such as v1")
	case len(validation.IsDNS1035Label(version)) > 0 || strings.HasPrefix(g.To, "/"):
		return fmt.Errorf("--to %q: not a version: write VERSION or GROUP/VERSION", g.To)
	}
	return nil
}
