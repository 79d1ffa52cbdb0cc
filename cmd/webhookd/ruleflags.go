package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// ruleFlags name the rules that a verb works with, beside what is compiled in.
type ruleFlags struct{ rules, crds []string }

func (f *ruleFlags) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.rules, "rules", nil, "file or folder of Conversion files; may be given more than once")
	f.addCRDs(flags, "crds")
}

// addCRDs adds the flag for CRDs: crds, or crd where one file is usual. Each is the other's alias.
func (f *ruleFlags) addCRDs(flags *pflag.FlagSet, name string) {
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, given string) pflag.NormalizedName {
		if given == "crd" || given == "crds" {
			given = name
		}
		return pflag.NormalizedName(given)
	})
	flags.StringArrayVar(&f.crds, name, nil,
		"file or folder of the CRDs that the rules are about; may be given more than once (default the folders of the rules)")
}

// check reports what is wrong with the flags.
func (f *ruleFlags) check() error {
	if len(f.rules) > 0 && len(f.crdPaths()) == 0 {
		return errors.New("rules need the CRDs that they are about: give their file or folder with --crds")
	}
	return nil
}

// crdPaths returns where the CRDs are: where it was not said, in the folders of the rules.
func (f *ruleFlags) crdPaths() []string {
	if len(f.crds) > 0 {
		return f.crds
	}
	return slices.DeleteFunc(slices.Clone(f.rules), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}

// texts reads the files.
func (p *program) texts(f *ruleFlags) (ruleFiles, crdFiles []textFile, err error) {
	var problems []error
	for _, path := range f.rules {
		if path == "-" {
			text, err := io.ReadAll(io.LimitReader(p.stdin, maxRuleFile))
			ruleFiles = append(ruleFiles, textFile{name: "stdin", text: text})
			problems = append(problems, err)
			continue
		}
		found, err := readTexts(path)
		ruleFiles = append(ruleFiles, found...)
		problems = append(problems, err)
	}
	crdFiles, err = readTexts(f.crdPaths()...)
	return ruleFiles, crdFiles, errors.Join(append(problems, err)...)
}

// registry returns what is compiled in and what the rules make. Findings are written to stderr, and are an error.
func (p *program) registry(f *ruleFlags) (*converters.Registry, error) {
	set, err := p.ruleSet(f)
	if err != nil {
		return nil, err
	}
	return newRegistry(set.kinds)
}

// ruleSet loads the rules; they have no findings.
func (p *program) ruleSet(f *ruleFlags) (ruleSet, error) {
	ruleFiles, crdFiles, err := p.texts(f)
	if err != nil {
		return ruleSet{}, err
	}
	set := loadRules(ruleFiles, crdFiles)
	if len(set.findings) == 0 {
		return set, nil
	}
	if err := finding.Render(p.stderr, finding.Text, set.findings, sources(slices.Concat(ruleFiles, crdFiles)...)); err != nil {
		return ruleSet{}, err
	}
	return ruleSet{}, hintError{
		fmt.Errorf("rules cannot be used: findings above, %d in all", len(set.findings)),
		"mend them, or see webhookd check --help",
	}
}
