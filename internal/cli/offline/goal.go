package offline

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// The values of --defaults.
const (
	defaultsWrite  = "write"
	defaultsIgnore = "ignore"
)

// A Goal is what the objects of documents are converted to.
type Goal struct {
	Group, Version string // Group may be empty
	// Defaults is what happens to fields that a document leaves out and whose defaults mean
	// something else at the version: "write" writes them out, "ignore" does not look for them.
	Defaults string
	// Others leaves objects alone that are at the version, or whose kind does not have it. Without
	// it, the latter are errors.
	Others bool
	// Discard leaves out the values that the version cannot express.
	Discard bool
}

// GoalFlags say which objects are converted, and to what. They are the same for all verbs that
// convert files.
type GoalFlags struct {
	Files         []string
	To            string
	Ruled         Flags
	Defaults      string
	Diff, Verbose bool
}

// Add adds the flags. The usage of --filename is the verb's own.
func (g *GoalFlags) Add(cmd *cobra.Command, files string) {
	flags := cmd.Flags()
	flags.StringArrayVarP(&g.Files, "filename", "f", nil, files+"; may be given more than once; same as an argument")
	voice.FilesAfter(cmd, "filename")
	flags.StringVar(&g.To, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	g.Ruled.Add(flags)
	flags.StringVar(&g.Defaults, "defaults", "", "`choice`: write fields that a file leaves out and whose defaults mean something else at the\nversion, or ignore them (default: name them)")
	voice.Offer(cmd, "defaults", defaultsWrite, defaultsIgnore)
	flags.BoolVar(&g.Diff, "diff", false, "print a unified diff instead of the result")
	flags.BoolVarP(&g.Verbose, "verbose", "v", false, "say which values are kept in annotations, and which ones rules drop")
}

// Goal returns the goal of the flags.
func (g *GoalFlags) Goal() Goal {
	goal := Goal{Version: g.To, Defaults: g.Defaults}
	if group, version, ok := strings.Cut(g.To, "/"); ok {
		goal.Group, goal.Version = group, version
	}
	return goal
}

// Check reports what is wrong with the flags. Without needed, --to may be left out.
func (g *GoalFlags) Check(needed bool) error {
	var toErr, defaultsErr error
	switch {
	case g.To == "" && needed:
		toErr = errors.New("no version to convert to: give one with --to, such as v1")
	case g.To == "":
		if len(g.Ruled.Rules) > 0 || len(g.Ruled.CRDs) > 0 || g.Defaults != "" {
			toErr = errors.New("--rules, --crds and --defaults: of no use without --to")
		}
	case len(validation.IsDNS1035Label(g.Goal().Version)) > 0 || strings.HasPrefix(g.To, "/"):
		toErr = fmt.Errorf("--to %q: not a version: write VERSION or GROUP/VERSION", g.To)
	}
	if g.Defaults != "" && g.Defaults != defaultsWrite && g.Defaults != defaultsIgnore {
		defaultsErr = fmt.Errorf("--defaults %s: not a choice, give %s or %s", g.Defaults, defaultsWrite, defaultsIgnore)
	}
	return errors.Join(defaultsErr, toErr, g.Ruled.Check(g.Files...))
}
