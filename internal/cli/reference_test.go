package cli

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../docs/reference/cli.md"
	got := reference()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("cli.md is not up to date, run this test with -update (-file +generated):\n%s", diff)
	}
}

// reference returns docs/reference/cli.md: every verb with one line. What a verb does and its flags
// are in its --help.
func reference() string {
	var b strings.Builder
	b.WriteString(preamble)
	var list func(cmd *cobra.Command)
	list = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			switch {
			case !sub.IsAvailableCommand():
			case sub.HasAvailableSubCommands() && sub.Name() != "completion":
				list(sub)
			default:
				fmt.Fprintf(&b, "- `%s`: %s\n", strings.TrimPrefix(sub.CommandPath(), "webhookd "), sub.Short)
			}
		}
	}
	list(newRootCommand(&voice.Program{}))
	return b.String()
}

const preamble = `# Command line

<!-- Generated from internal/cli by make generate -->

` + "`webhookd VERB --help`" + ` has examples and all flags. As [a plugin](../how-to/use-with-your-tools.md) the verbs are
` + "`kubectl webhookd VERB`" + `. Results go to stdout, messages and [the log](logs.md) of ` + "`serve`" + ` to stderr. The exit code is

- 0 for success, also if a signal ended ` + "`serve`" + ` in order;
- 1 if something failed: an object, rules with findings, a file that ` + "`serve`" + ` follows, an address;
- 2 if the command line or the configuration is wrong, or names a file that is not there: nothing was done.

Verbs that ask a cluster use ` + "`--kubeconfig`" + ` or ` + "`KUBECONFIG`" + `. ` + "`serve`" + ` has [keys](configuration.md).

## Verbs

`

// The name of a flag's value in --help says what to write.
func TestFlagsSayWhatTheirValuesAre(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if name, usage := pflag.UnquoteUsage(f); slices.Contains([]string{"string", "strings", "uint", "stringArray"}, name) {
				t.Errorf("%s --%s %s: %s", cmd.CommandPath(), f.Name, name, usage)
			}
		})
		for _, below := range cmd.Commands() {
			check(below)
		}
	}
	check(newRootCommand(&voice.Program{}))
}
