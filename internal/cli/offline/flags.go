package offline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Flags name the rules and CRDs that a verb uses in addition to compiled-in kinds.
type Flags struct {
	Rules, CRDs []string
	Arguments   bool // rules are arguments, not values of --rules
	// Live reads the CRDs of rules from a cluster if none are named; it may be nil.
	Live func(ctx context.Context, rules []ruleset.File) ([]ruleset.File, error)
}

// Add adds the flags. They are the same for all verbs that convert.
func (f *Flags) Add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Rules, "rules", nil, "`path` of a file or folder of Conversions, - for stdin; may be given more than once")
	f.AddCRDs(flags, " (default the folders of the rules)")
}

// AddCRDs adds --crds, with what happens without it.
func (f *Flags) AddCRDs(flags *pflag.FlagSet, otherwise string) {
	flags.StringArrayVar(&f.CRDs, "crds", nil, "`path` of a file or folder of CRDs, - for stdin; may be given more than once"+otherwise)
}

// Check reports what is wrong with the flags; others are the other files that the verb reads.
func (f *Flags) Check(others ...string) error {
	var err error
	if len(f.Rules) > 0 && len(f.CRDPaths()) == 0 && f.Live == nil {
		err = errors.New("--crds: missing, rules need the CRDs that they are about: give their file, or with --rules a folder that has both")
	}
	return errors.Join(err, f.CheckStdin(others...))
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
		return errors.New("-: stdin is wanted for several things, name files for all but one")
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

// Files reads the files. If no CRDs are named and there is a cluster, they are those of the
// cluster. If there are problems with the command line, it returns those.
func (f *Flags) Files(ctx context.Context, p *voice.Program, problems ...error) (rules, crds []ruleset.File, err error) {
	if err := errors.Join(problems...); err != nil {
		return nil, nil, voice.Usage(err, "")
	}
	from := ruleset.Origin{What: "rules", Remedy: "give their file or folder with --rules"}
	if f.Arguments {
		from.Remedy = "give their file or folder"
	}
	rules, err = Read(ctx, p, from, f.Rules)
	crds, crdErr := InFolders(rules), error(nil)
	if len(f.CRDs) > 0 {
		crds, crdErr = Read(ctx, p, ruleset.Origin{What: "CRDs", Remedy: "give their file or folder with --crds"}, f.CRDs)
	}
	if err := errors.Join(err, crdErr); err != nil {
		return nil, nil, err
	}
	if f.Live != nil && len(f.CRDPaths()) == 0 {
		crds, err = f.Live(ctx, rules)
	}
	return rules, crds, err
}

// Load loads rules to convert with. If they cannot be used, it writes all findings to stderr and
// fails. If only the checker objects, it says how many findings there are. Problems are as for
// Files.
func (f *Flags) Load(ctx context.Context, p *voice.Program, problems ...error) (*ruleset.Set, error) {
	set, err := f.LoadQuietly(ctx, p, problems...)
	if err != nil {
		return set, err
	}
	if grave := finding.Worst(set.Findings, finding.Warning); len(grave) > 0 {
		p.Note("%s in the rules, webhookd check prints them", voice.CountBySeverity(grave))
	}
	return set, nil
}

// LoadQuietly is Load without the message about findings in usable rules.
func (f *Flags) LoadQuietly(ctx context.Context, p *voice.Program, problems ...error) (*ruleset.Set, error) {
	rules, crds, err := f.Files(ctx, p, problems...)
	if err != nil {
		return nil, err
	}
	set, err := p.Compiled.Load(ctx, rules, crds)
	if err != nil {
		return nil, err
	}
	if err := Usable(p, &set, "rules", "fix them, or see webhookd check --help"); err != nil {
		f.NoteNoCRD(p, &set)
		return nil, err
	}
	if len(f.Rules) > 0 && len(set.Conversions) == 0 {
		return nil, NoConversion(f.Rules)
	}
	f.NoteNoCRD(p, &set)
	return &set, nil
}

// Usable writes all findings to stderr and fails if rules cannot be used. The hint says what to do.
func Usable(p *voice.Program, set *ruleset.Set, what, hint string) error {
	if set.Broken == 0 {
		return nil
	}
	if err := set.Render(p.Stderr, p.TextFor(p.Stderr)); err != nil {
		return err
	}
	return voice.Hint(fmt.Errorf("%s cannot be used: %s above", what, voice.CountBySeverity(set.Findings)), hint)
}

// NoteNoCRD says that no CRD was found if rules need one.
func (f *Flags) NoteNoCRD(p *voice.Program, set *ruleset.Set) {
	if set.LacksCRD() && len(set.CRDs) == 0 {
		p.Note("%s: no CRD in any file", NamesOf(f.CRDPaths()))
	}
}

// NoConversion says that files have no rules.
func NoConversion(paths []string) error {
	return voice.Usage(fmt.Errorf("%s: no Conversion in any file", NamesOf(paths)), "webhookd suggest writes a first draft")
}
