package laws

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/roundtrip"
)

// addDrops adds --drop for a webhook whose losses no rules declare.
func addDrops(flags *pflag.FlagSet, paths *[]string, what string) {
	flags.StringArrayVar(paths, "drop", nil, "`path` that "+what+", at any version, such as .spec.ports[].name;\nmay be given more than once")
}

func parseDrops(paths []string) ([]roundtrip.Drop, error) {
	drops := make([]roundtrip.Drop, 0, len(paths))
	var problems []error
	for _, path := range paths {
		if _, err := syntax.ParsePath(path); err != nil {
			problems = append(problems, fmt.Errorf("--drop %q: not a path, write it as rules do: %w", path, err))
		}
		drops = append(drops, roundtrip.Drop{Path: path})
	}
	return drops, errors.Join(problems...)
}
