package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// What webhookd says to a person goes to stderr: each line begins with "webhookd: ", in lower case,
// without a full stop. A remedy that is a guess follows on a line that begins with "hint: ".

// A usageError is a command line or a configuration that makes no sense; the program ends with 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A hintError adds a hint to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// errReported ends the program when all has been said already, with 1 unless a usageError is joined to it.
var errReported = errors.New("failed")

// usage makes err a usageError with a hint, which may be empty.
func usage(err error, hint string) error {
	if hint != "" {
		err = hintError{err, hint}
	}
	return usageError{err}
}

// report tells err, if it is one, and returns the exit code.
func report(stderr io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errReported) {
		say(stderr, err)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// say prints err, a line for each problem that is joined in it, and the hint.
func say(stderr io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "webhookd: %s\n", strings.TrimSuffix(line, "\n"))
	}
	if hinted, ok := errors.AsType[hintError](err); ok {
		fmt.Fprintf(stderr, "hint: %s\n", hinted.hint)
	}
}

// unknownCommand is the check of the arguments of the root and of groups: what is left there is no command.
func unknownCommand(cmd *cobra.Command, args []string) error {
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
	return usage(fmt.Errorf("unknown command %q%s", args[0], of), hint)
}

// noArguments is the check of a verb that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, verb, _ := strings.Cut(cmd.CommandPath(), " ")
	return usage(fmt.Errorf("%s takes no arguments, only flags: %q", verb, args[0]), flagInstead(cmd))
}

// flagInstead is the hint at the flag of what was given as an argument, which is most often a file.
func flagInstead(cmd *cobra.Command) string {
	has := func(name string) bool { return cmd.Flags().Lookup(name) != nil }
	switch {
	case has("probe"): // whose files are for a server
		return cmd.CommandPath() + " reads stdin"
	case has("filename"):
		return "name files with --filename"
	case has("rules") && has("crd"):
		return "name files with --rules and --crd"
	case has("crd") && !has("service"):
		return "name files with --crd"
	}
	return cmd.CommandPath() + " --help lists the flags"
}

// flagError makes what pflag says into a usageError.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // all of -update
		if near, ok := didyoumean.Nearest(name, names); ok {
			name = near
		}
		if slices.Contains(names, name) {
			hint = "did you mean --" + name + "?"
		}
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if want, ok := wanted(invalid.GetFlag().Value.Type()); ok {
			return usage(fmt.Errorf("%s: --%s %q", want, invalid.GetFlag().Name, invalid.GetValue()), "")
		}
	}
	return usage(err, hint)
}

// wanted says what the value of a flag of some type is, and how it is written.
func wanted(flagType string) (string, bool) {
	switch flagType {
	case "bool":
		return "not a boolean, write true or false", true
	case "duration":
		return "not a duration, write a number with a unit, such as 30s or 2m", true
	case "int", "uint64":
		return "not a whole number, write digits only", true
	}
	return "", false
}
