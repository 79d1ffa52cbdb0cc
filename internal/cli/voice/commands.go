package voice

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// Offer registers the values that the shell completes for a flag.
func Offer(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // there is no such flag
	}
}

// AddOutput adds -o for formats, of which the first is the default.
func AddOutput(cmd *cobra.Command, output *string, formats ...string) {
	cmd.Flags().StringVarP(output, "output", "o", formats[0], "`format`: "+oneOf(formats))
	Offer(cmd, "output", formats...)
}

// CheckOutput returns an error if the value of -o is not one of formats.
func CheckOutput(got string, formats ...string) error {
	if slices.Contains(formats, got) {
		return nil
	}
	return Usage(fmt.Errorf("--output %q: no such format, write %s", got, oneOf(formats)), "")
}

// oneOf lists words, of which there are at least two.
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Choose returns the elements whose name is the value of a flag, or all if it is empty. If there is
// none, the error says what.
func Choose[T any](all []T, name func(T) string, flag, value, what string) ([]T, error) {
	if value == "" {
		return all, nil
	}
	var chosen []T
	var names []string
	for _, one := range all {
		if names = append(names, name(one)); name(one) == value {
			chosen = append(chosen, one)
		}
	}
	if len(chosen) > 0 {
		return chosen, nil
	}
	slices.Sort(names)
	return nil, Usage(fmt.Errorf("--%s %s: no such %s", flag, value, what), didyoumean.Hint(value, names, "there is "+strings.Join(names, ", ")))
}

// NoUse returns an error for given flags that have no effect.
func NoUse(flags *pflag.FlagSet, why string, names ...string) error {
	var given []string
	for _, name := range names {
		if flags.Changed(name) {
			given = append(given, "--"+name)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return fmt.Errorf("%s: of no use %s", strings.Join(given, ", "), why)
}

// UnknownCommand checks the arguments of the root and of groups. Any that are left are not
// commands.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	if len(names) == 0 {
		hint = cmd.CommandPath() + " has no commands, --help lists its flags"
	} else if name, ok := didyoumean.Nearest(args[0], names); ok {
		hint = "did you mean " + cmd.CommandPath() + " " + name + "?"
	}
	of := ""
	if cmd.HasParent() {
		of = " of " + cmd.CommandPath()
	}
	return Usage(fmt.Errorf("%q: no such command%s", args[0], of), hint)
}

// NoArguments checks the arguments of a verb that takes only flags.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, verb, _ := strings.Cut(cmd.CommandPath(), " ")
	return Usage(fmt.Errorf("%q: %s takes no arguments, only flags", args[0], verb), flagInstead(cmd))
}

// FilesAfter makes the arguments of a verb values of a flag that names files, and says so in its
// usage.
func FilesAfter(cmd *cobra.Command, flag string) {
	cmd.Flags().Lookup(flag).Usage += "; same as an argument"
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, file := range args {
			if err := cmd.Flags().Set(flag, file); err != nil {
				return err
			}
		}
		return nil
	}
}

// OneFile makes the argument of a verb the value of --filename.
func OneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && cmd.Flags().Changed("filename") {
		return Usage(fmt.Errorf("%q: several files, name one", args[len(args)-1]), "")
	}
	if len(args) == 0 {
		return nil
	}
	return cmd.Flags().Set("filename", args[0])
}

// flagInstead returns a hint that names the flag for an unexpected argument, which is usually a
// file.
func flagInstead(cmd *cobra.Command) string {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	switch {
	case has("rules") && has("crds"):
		return "name files with --rules and --crds"
	case has("crds") && !has("service"):
		return "name files with --crds"
	}
	return cmd.CommandPath() + " --help lists the flags"
}

// NewGroup returns a command that only holds subcommands.
func NewGroup(name, short, long string) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Long: long}
	MakeGroup(cmd)
	return cmd
}

// MakeGroup makes cmd alone print its help, and every argument that is not a subcommand a
// usageError.
func MakeGroup(cmd *cobra.Command) {
	cmd.Args = UnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}
