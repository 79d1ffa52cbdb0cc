package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Flags name the rules and CRDs that a verb uses in addition to compiled-in kinds.
type Flags struct {
	Rules, CRDs []string
	Arguments   bool // rules are arguments, not values of --rules
	// live reads the CRDs of rules from a cluster if none are named; it may be nil.
	Live func(ctx context.Context, rules []ruleset.File) ([]ruleset.File, error)
}

// Add adds the flags. They are the same for all offline verbs.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Rules, "rules", nil, "`path` of a file or folder of Conversions, - for stdin; may be given more than once")
	f.AddCRDs(flags, " (default the folders of the rules)")
}

// AddCRDs adds --crds.
func (f *Flags) AddCRDs(flags *pflag.FlagSet, otherwise string) {
	flags.StringArrayVar(&f.CRDs, "crds", nil, "`path` of a file or folder of CRDs, - for stdin; may be given more than once"+otherwise)
}

// Check reports what is wrong with the flags; others are the other files that the verb reads.
func (f *Flags) Check(others ...string) error {
	var problems []error
	if len(f.Rules) > 0 && len(f.CRDPaths()) == 0 && f.Live == nil {
		problems = append(problems, errors.New("rules need the CRDs that they are about: give their file or folder with --crds"))
	}
	return errors.Join(append(problems, f.CheckStdin(others...))...)
}

// CheckStdin returns an error if stdin would be read more than once.
func (f *Flags) CheckStdin(others ...string) error {
	reads := 0
	for _, path := range slices.Concat(f.Rules, f.CRDs, others) {
		if path == Stdin {
			reads++
		}
	}
	if reads > 1 {
		return errors.New("stdin is wanted for several things, name files for all but one: -")
	}
	return nil
}

// CRDPaths returns the paths of the CRDs. The default is the folders among the rules. A missing
// path is included, since it may have been meant as a folder: reading it reports the error.
func (f *Flags) CRDPaths() []string {
	if len(f.CRDs) > 0 {
		return f.CRDs
	}
	return slices.DeleteFunc(slices.Clone(f.Rules), func(path string) bool {
		info, err := os.Stat(path)
		return path == Stdin || err == nil && !info.IsDir()
	})
}

// Texts reads the files. A file that cannot be read is a usageError. If no CRDs are named and there
// is a cluster, they are those of the cluster.
func Texts(ctx context.Context, p *voice.Program, f *Flags) (ruleFiles, crdFiles []ruleset.File, err error) {
	from := ruleset.Origin{What: "rules", Remedy: "give their file or folder with --rules"}
	if f.Arguments {
		from.Remedy = "give their file or folder"
	}
	ruleFiles, rulesErr := Read(ctx, p, from, f.Rules)
	var crdErr error
	if len(f.CRDs) > 0 { // otherwise they are among the files of the rules
		crdFiles, crdErr = Read(ctx, p, ruleset.Origin{What: "CRDs", Remedy: "give their file or folder with --crds"}, f.CRDs)
	} else {
		crdFiles = slices.DeleteFunc(slices.Clone(ruleFiles), func(file ruleset.File) bool { return !file.InFolder })
	}
	if err := errors.Join(rulesErr, crdErr); err != nil {
		return nil, nil, voice.Usage(err, "")
	}
	if f.Live != nil && len(f.CRDPaths()) == 0 {
		crdFiles, err = f.Live(ctx, ruleFiles)
	}
	return ruleFiles, crdFiles, err
}

// Registry returns the rules, and the compiled-in kinds with those of the rules.
func Registry(ctx context.Context, p *voice.Program, f *Flags) (*ruleset.Set, *converters.Registry, error) {
	set, err := Load(ctx, p, f)
	if err != nil {
		return nil, nil, err
	}
	registry, err := set.Registry()
	return set, registry, err
}

// Load loads rules to convert with. If they cannot be used, it writes all findings to stderr and
// fails. If only the checker objects, it says how many findings there are.
func Load(ctx context.Context, p *voice.Program, f *Flags) (*ruleset.Set, error) {
	set, err := LoadLoose(ctx, p, f)
	if err != nil {
		return set, err
	}
	if grave := finding.Worst(set.Findings, finding.Warning); len(grave) > 0 {
		fmt.Fprintf(p.Stderr, "webhookd: %s in the rules, webhookd check prints them\n", voice.CountBySeverity(grave))
	}
	return set, nil
}

// LoadLoose is Load without the message about findings in usable rules.
func LoadLoose(ctx context.Context, p *voice.Program, f *Flags) (*ruleset.Set, error) {
	ruleFiles, crdFiles, err := Texts(ctx, p, f)
	if err != nil {
		return nil, err
	}
	set, err := p.Compiled.Load(ctx, ruleFiles, crdFiles)
	switch {
	case err != nil:
		return nil, err
	case set.Broken > 0:
		if err := set.Render(p.Stderr, p.TextFor(p.Stderr)); err != nil {
			return nil, err
		}
		NoteNoCRD(p, f, &set)
		return nil, voice.Hint(fmt.Errorf("rules cannot be used: %s above", voice.CountBySeverity(set.Findings)),
			"fix them, or see webhookd check --help")
	case len(f.Rules) > 0 && len(set.Conversions) == 0:
		return nil, NoConversion(f.Rules)
	}
	NoteNoCRD(p, f, &set)
	return &set, nil
}

// NoteNoCRD says that no CRD was found if rules need one.
func NoteNoCRD(p *voice.Program, f *Flags, set *ruleset.Set) {
	if set.LacksCRD() && len(set.CRDs) == 0 {
		p.Note("%s: no CRD in any file", NamesOf(f.CRDPaths()))
	}
}
