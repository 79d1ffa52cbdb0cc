package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// flagError turns an error of pflag into a usageError.
func flagError(cmd *cobra.Command, err error) error {
	hint := cmd.CommandPath() + " --help lists the flags"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name, dashes := unknown.GetSpecifiedShortnames(), "-" // "update" for -update
		if name == "" {
			name, dashes = unknown.GetSpecifiedName(), "--"
		}
		err = fmt.Errorf("%s%s: no such flag", dashes, name)
		if near, ok := didyoumean.Nearest(name, names); ok {
			name = near
		}
		if slices.Contains(names, name) {
			hint = "did you mean --" + name + "?"
		}
	}
	if lacks, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		err = fmt.Errorf("--%s: no value, write one after it", lacks.GetFlag().Name)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		wanted := map[string]string{
			"bool":     "not a boolean, write true or false",
			"duration": "not a duration, write a number with a unit, such as 30s or 2m",
			"when":     "not a choice, write auto, always or never",
			"int":      "not a whole number, write digits only",
			"uint64":   "not a whole number, write digits only",
		}[invalid.GetFlag().Value.Type()]
		if wanted != "" {
			return voice.Usage(fmt.Errorf("--%s %q: %s", invalid.GetFlag().Name, invalid.GetValue(), wanted), "")
		}
	}
	return voice.Usage(err, hint)
}

// aliasCRDs makes --crd and --crds the same flag of a command that has one of them.
func aliasCRDs(cmd *cobra.Command) {
	for alias, name := range map[string]string{"crds": "crd", "crd": "crds"} {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
			if given == alias {
				given = name
			}
			return pflag.NormalizedName(given)
		})
		return
	}
}
