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

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// Messages for people go to stderr. Each line begins with "webhookd: ", in lower case, without a
// full stop. A remedy that is a guess follows on a line that begins with "hint: ".

// A usageError is a wrong command line or configuration. The program exits with 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// A hintError adds a hint to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// errReported ends the program without another message. It exits with 1 unless a usageError is
// joined to it.
var errReported = errors.New("failed")

// usage makes err a usageError with a hint, which may be empty. It returns nil for nil.
func usage(err error, hint string) error {
	if err == nil {
		return nil
	}
	if hint != "" {
		err = hintError{err, hint}
	}
	return usageError{err}
}

// report prints err unless it is nil or was printed before, and returns the exit code.
func (p *program) report(err error) int {
	if err == nil {
		return exitOK
	}
	if !errors.Is(err, errReported) {
		say(p.stderr, err, p.colored(p.stderr))
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

// say prints err, one line for each joined problem, and its hint.
func say(stderr io.Writer, err error, colored bool) {
	name, hint := "webhookd:", "hint:"
	if colored {
		name, hint = paint(red, name), paint(cyan, hint)
	}
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "%s %s\n", name, strings.TrimSuffix(line, "\n"))
	}
	if hinted, ok := errors.AsType[hintError](err); ok {
		fmt.Fprintf(stderr, "%s %s\n", hint, hinted.hint)
	}
}

// unknownCommand checks the arguments of the root and of groups. Any that are left are not
// commands.
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

// noArguments checks the arguments of a verb that takes only flags.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	_, verb, _ := strings.Cut(cmd.CommandPath(), " ")
	return usage(fmt.Errorf("%q: %s takes no arguments, only flags", args[0], verb), flagInstead(cmd))
}

// filesAfter makes the arguments of a verb values of a flag that names files.
func filesAfter(cmd *cobra.Command, flag string) {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		for _, file := range args {
			if err := cmd.Flags().Set(flag, file); err != nil {
				return err
			}
		}
		return nil
	}
}

// oneFile makes the argument of a verb the value of --filename.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && cmd.Flags().Changed("filename") {
		return usage(fmt.Errorf("%q: several files, name one", args[len(args)-1]), "")
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

// flagError turns an error of pflag into a usageError.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()) // "update" for -update
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

// wanted says what is wrong with a value that is not of flagType, and what to write instead.
func wanted(flagType string) (string, bool) {
	switch flagType {
	case "bool":
		return "not a boolean, write true or false", true
	case "duration":
		return "not a duration, write a number with a unit, such as 30s or 2m", true
	case "when":
		return "not a choice, write auto, always or never", true
	case "int", "uint64":
		return "not a whole number, write digits only", true
	}
	return "", false
}
