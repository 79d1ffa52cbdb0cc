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

	"github.com/crdconvert/webhookd/internal/config"
)

var update = flag.Bool("update", false, "write the generated files anew")

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

// reference is docs/reference/cli.md: every command in Markdown.
func reference() string {
	root := newRootCommand(&program{})
	var b strings.Builder
	b.WriteString(preamble)
	describe(&b, root)
	return b.String()
}

func describe(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	usage := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		usage = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(b, "%s\n\n```\n%s\n```\n", strings.TrimSpace(text), strings.TrimSuffix(usage, " [flags]"))
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	describeFlags(b, cmd)
	for _, sub := range cmd.Commands() {
		// What cobra says of each shell is in its --help, and long.
		if sub.IsAvailableCommand() && cmd.Name() != "completion" {
			describe(b, sub)
		}
	}
}

// describeFlags writes the flags, but the keys of the configuration only where they come into effect.
func describeFlags(b *strings.Builder, cmd *cobra.Command) {
	keys, own := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	config.Flags(keys)
	own.SortFlags = false
	more := ""
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.Name() == "config" && keys.Lookup(f.Name) != nil {
			more = " those of [serve](#webhookd-serve), and"
			return
		}
		own.AddFlag(f)
	})
	if own.HasFlags() {
		fmt.Fprintf(b, "\nFlags:%s\n\n```\n%s```\n", more, own.FlagUsages())
	}
}

const preamble = `# Command line

<!-- Generated from internal/cli; after a change there run: go test ./internal/cli -run TestReference -update -->

What webhookd says to a person goes to stderr: every line begins with ` + "`webhookd: `" + `, and a guess at the remedy
follows on one that begins with ` + "`hint: `" + `. The log of ` + "`serve`" + `, on stderr too, is described in [logs.md](logs.md), the
keys behind its flags in [configuration.md](configuration.md).

| exit code | meaning |
|---|---|
| 0 | all went well; for ` + "`serve`" + `: it was told to end, and ended in order |
| 1 | something failed: an object could not be converted, rules have findings, a file that ` + "`serve`" + ` follows not be read, an address not be bound |
| 2 | the command line or the configuration is wrong, or names a file that is not there; nothing was done |
`

// What --help calls the value of a flag says what to write.
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
	check(newRootCommand(&program{}))
}
