package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// ruleFlags name the rules and CRDs that a verb uses in addition to compiled-in kinds.
type ruleFlags struct {
	rules, crds []string
	arguments   bool        // rules are arguments, not values of --rules
	live        *liveReader // or nil
}

// add adds the flags. They are the same for all offline verbs.
func (f *ruleFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.rules, "rules", nil, "`path` of a file or folder of Conversions, - for stdin; may be given more than once")
	f.addCRDs(flags, " (default the folders of the rules)")
}

// aliasCRDs makes --crd and --crds the same flag of every command that has one of them.
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
		break
	}
	for _, sub := range cmd.Commands() {
		aliasCRDs(sub)
	}
}

// addCRDs adds --crds.
func (f *ruleFlags) addCRDs(flags *pflag.FlagSet, otherwise string) {
	flags.StringArrayVar(&f.crds, "crds", nil, "`path` of a file or folder of CRDs, - for stdin; may be given more than once"+otherwise)
}

// check reports what is wrong with the flags; others are the other files that the verb reads.
func (f *ruleFlags) check(others ...string) error {
	var problems []error
	if len(f.rules) > 0 && len(f.crdPaths()) == 0 && f.live == nil {
		problems = append(problems, errors.New("rules need the CRDs that they are about: give their file or folder with --crds"))
	}
	return errors.Join(append(problems, f.checkStdin(others...))...)
}

// checkStdin returns an error if stdin would be read more than once.
func (f *ruleFlags) checkStdin(others ...string) error {
	reads := 0
	for _, path := range slices.Concat(f.rules, f.crds, others) {
		if path == stdinName {
			reads++
		}
	}
	if reads > 1 {
		return errors.New("stdin is wanted for several things, name files for all but one: -")
	}
	return nil
}

// crdPaths returns the paths of the CRDs. The default is the folders among the rules. A missing
// path is included, since it may have been meant as a folder: reading it reports the error.
func (f *ruleFlags) crdPaths() []string {
	if len(f.crds) > 0 {
		return f.crds
	}
	return slices.DeleteFunc(slices.Clone(f.rules), func(path string) bool {
		info, err := os.Stat(path)
		return path == stdinName || err == nil && !info.IsDir()
	})
}

// texts reads the files. A file that cannot be read is a usageError. If no CRDs are named and there
// is a cluster, they are those of the cluster.
func (p *program) texts(ctx context.Context, f *ruleFlags) (ruleFiles, crdFiles []ruleset.File, err error) {
	from := ruleset.Origin{What: "rules", Remedy: "give their file or folder with --rules"}
	if f.arguments {
		from.Remedy = "give their file or folder"
	}
	ruleFiles, rulesErr := p.read(ctx, from, f.rules)
	var crdErr error
	if len(f.crds) > 0 { // otherwise they are among the files of the rules
		crdFiles, crdErr = p.read(ctx, ruleset.Origin{What: "CRDs", Remedy: "give their file or folder with --crds"}, f.crds)
	} else {
		crdFiles = slices.DeleteFunc(slices.Clone(ruleFiles), func(file ruleset.File) bool { return !file.InFolder })
	}
	if err := errors.Join(rulesErr, crdErr); err != nil {
		return nil, nil, usage(err, "")
	}
	if f.live != nil && len(f.crdPaths()) == 0 {
		crdFiles, err = f.live.crds(ctx, ruleFiles)
	}
	return ruleFiles, crdFiles, err
}

// read reads files and folders. For - it reads stdin without a limit, since all CRDs of a cluster
// may be large.
func (p *program) read(ctx context.Context, from ruleset.Origin, paths []string) ([]ruleset.File, error) {
	var files []ruleset.File
	var problems []error
	for _, path := range paths {
		if path == stdinName {
			text, err := p.readStdin(from)
			files, problems = append(files, ruleset.File{Name: "stdin", Text: text}), append(problems, err)
			continue
		}
		found, err := ruleset.Read(ctx, ruleset.ReaderForVerbs(), from, path)
		files, problems = append(files, found...), append(problems, err)
	}
	return once(files), errors.Join(problems...)
}

// readStdin reads all of stdin. Errors call it stdin, whatever the file's name.
func (p *program) readStdin(from ruleset.Origin) ([]byte, error) {
	text, err := io.ReadAll(p.stdin)
	return text, from.Unread("stdin", ruleset.Renamed(err, "stdin"))
}

// once removes duplicates, such as a file that is named and also in a named folder. Such a file
// counts as named, not as found in a folder.
func once(files []ruleset.File) []ruleset.File {
	first := make(map[string]int, len(files))
	kept := make([]ruleset.File, 0, len(files))
	for _, f := range files {
		name := filepath.Clean(f.Name)
		i, again := first[name]
		if !again {
			first[name] = len(kept)
			kept = append(kept, f)
			continue
		}
		kept[i].InFolder = kept[i].InFolder && f.InFolder
	}
	return kept
}

// registry returns the rules, and the compiled-in kinds with those of the rules.
func (p *program) registry(ctx context.Context, f *ruleFlags) (*ruleset.Set, *converters.Registry, error) {
	set, err := p.ruleSet(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	registry, err := set.Registry()
	return set, registry, err
}

// ruleSet loads rules to convert with. If they cannot be used, it writes all findings to stderr and
// fails. If only the checker objects, it says how many findings there are.
func (p *program) ruleSet(ctx context.Context, f *ruleFlags) (*ruleset.Set, error) {
	set, err := p.looseRuleSet(ctx, f)
	if err != nil {
		return set, err
	}
	if grave := finding.Worst(set.Findings, finding.Warning); len(grave) > 0 {
		fmt.Fprintf(p.stderr, "webhookd: %s in the rules, webhookd check prints them\n", countBySeverity(grave))
	}
	return set, nil
}

// looseRuleSet is ruleSet without the message about findings in usable rules.
func (p *program) looseRuleSet(ctx context.Context, f *ruleFlags) (*ruleset.Set, error) {
	ruleFiles, crdFiles, err := p.texts(ctx, f)
	if err != nil {
		return nil, err
	}
	set, err := p.compiled.Load(ctx, ruleFiles, crdFiles)
	switch {
	case err != nil:
		return nil, err
	case set.Broken > 0:
		if err := set.Render(p.stderr, p.textFor(p.stderr)); err != nil {
			return nil, err
		}
		p.noteNoCRD(f, &set)
		return nil, hintError{
			fmt.Errorf("rules cannot be used: %s above", countBySeverity(set.Findings)),
			"fix them, or see webhookd check --help",
		}
	case len(f.rules) > 0 && len(set.Conversions) == 0:
		return nil, noConversion(f.rules)
	}
	p.noteNoCRD(f, &set)
	return &set, nil
}

// namesOf lists paths for an error, with stdin for -.
func namesOf(paths []string) string {
	names := slices.Clone(paths)
	for i, name := range names {
		if name == stdinName {
			names[i] = "stdin"
		}
	}
	return strings.Join(names, ", ")
}

func noConversion(paths []string) error {
	return usage(fmt.Errorf("%s: no Conversion in any file", namesOf(paths)), "webhookd suggest writes a first draft")
}

// noteNoCRD says that no CRD was found if rules need one.
func (p *program) noteNoCRD(f *ruleFlags, set *ruleset.Set) {
	if set.LacksCRD() && len(set.CRDs) == 0 {
		p.note("%s: no CRD in any file", namesOf(f.crdPaths()))
	}
}
