package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
)

// goalFlags say which objects are converted, and to what. They are the same for all verbs that
// convert files.
type goalFlags struct {
	files []string
	to    string
	ruled ruleFlags
	// defaults is defaultsWrite, defaultsIgnore or empty.
	defaults      string
	diff, verbose bool
}

// add adds the flags. The usage of --filename is the verb's own.
func (g *goalFlags) add(cmd *cobra.Command, files string) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&g.files, "filename", "f", nil, files+"; may be given more than once; same as an argument")
	filesAfter(cmd, "filename")
	flags.StringVar(&g.to, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	g.ruled.add(flags)
	flags.StringVar(&g.defaults, "defaults", "", "`choice`: write fields that a file leaves out and whose defaults mean something else at the\nversion, or ignore them (default: name them)")
	offer(cmd, "defaults", defaultsWrite, defaultsIgnore)
	flags.BoolVar(&g.diff, "diff", false, "print a unified diff instead of the result")
	flags.BoolVarP(&g.verbose, "verbose", "v", false, "say which values are kept in annotations, and which ones rules drop")
}

// target splits --to. The group may be empty.
func (g *goalFlags) target() (group, version string) {
	if before, after, ok := strings.Cut(g.to, "/"); ok {
		return before, after
	}
	return "", g.to
}

// checkVersion reports a wrong --to.
func (g *goalFlags) checkVersion() error {
	_, version := g.target()
	switch {
	case g.to == "":
		return errors.New("no version to convert to: give one with --to, such as v1")
	case len(validation.IsDNS1035Label(version)) > 0 || strings.HasPrefix(g.to, "/"):
		return fmt.Errorf("--to %q: not a version: write VERSION or GROUP/VERSION", g.to)
	}
	return nil
}
