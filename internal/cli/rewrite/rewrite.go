package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// New returns the command rewrite.
func New(p *voice.Program) *cobra.Command {
	var o rewriteOptions
	cmd := &cobra.Command{
		Use:   "rewrite FILE|DIR... --to VERSION [--rules PATH --crds PATH] [--diff | --check] [--keep | --discard] [-v]",
		Short: "Convert the objects of files where they are",
		Long: `Convert the objects in YAML or JSON files where they are, and change in them only what the conversion changes: comments,
order, quoting and other documents stay byte for byte. It converts objects of the kinds that have the version, and leaves
all others alone. It prints each document and what changes there, by path.

A file is left as it is, and named, if values would have to be kept in annotations (unless --keep, or --discard, which names
them), or if it is a template, it has a patch as a text, or an anchor is in the way; the exit code is 1 then. Another notation
of a value, as 1m30s for 90s, is not kept. Rules with errors change no file. --diff and --check write nothing; with --check
the exit code is 1 if there is something to convert. Without any object of these kinds it says which kinds there are
instead, and the exit code is 0; without any file to read it is 2.

A manifest may leave out a field whose default means something else at the other version. A file with such a field is not
changed. --defaults write writes them out, at the version of the file, before it is converted. --defaults ignore is for
patches: they leave these fields, and those with defaults of rules, to what they are applied to. A file that a
kustomization.yaml names as a patch is converted so without it.`,
		Example: `  webhookd rewrite clusters/ --to v1 --rules rules.yaml --crds crds/
  webhookd rewrite . --to v1 --rules rules/ --check`,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), p, &o) },
	}
	o.Add(cmd, "`path` of a file or folder to change")
	flags := cmd.Flags()
	flags.BoolVar(&o.check, "check", false, "write nothing, and exit with 1 if there is something to convert")
	flags.BoolVar(&o.keep, "keep", false, "write values that the version cannot express into annotations")
	flags.BoolVar(&o.discard, "discard", false, "leave out values that the version cannot express")
	return cmd
}

// rewriteOptions are the flags of rewrite.
type rewriteOptions struct {
	offline.GoalFlags

	check, keep, discard bool
}

// problems reports everything that is wrong with the flags.
func (o *rewriteOptions) problems() error {
	return errors.Join(
		voice.Problem(len(o.Files) == 0, "nothing to convert: name files or folders of objects"),
		voice.Problem(slices.Contains(o.Files, offline.Stdin), "-: stdin has no place to change, use webhookd convert"),
		voice.Problem(o.keep && o.discard, "--keep and --discard: values that the version cannot express are kept or discarded, give one"), o.Check(true))
}

// way returns how documents are converted to a goal.
func (o *rewriteOptions) way(p *voice.Program, set *ruleset.Set, goal offline.Goal) (w way, err error) {
	w.goal = goal
	w.goal.Others, w.goal.Discard = true, !o.keep
	w.converter, err = offline.New(p, goal.Set(set))
	return w, err
}

// run converts the objects in files, and changes nothing else there.
func run(ctx context.Context, p *voice.Program, o *rewriteOptions) error {
	set, err := o.Ruled.Load(ctx, p, o.problems())
	if err != nil {
		return err
	}
	if wrong := set.Errors(); len(wrong) > 0 && !o.Diff && !o.check {
		return voice.Hint(fmt.Errorf("no file is changed by rules with %s", voice.CountBySeverity(wrong)), "fix them, or see what they would do with --diff")
	}
	c := &rewriting{p: p, o: o, bar: voice.NewProgress(p.Stderr, "rewrite")}
	if c.way, err = o.way(p, set, o.Goal()); err != nil {
		return err
	}
	if c.patches, err = o.way(p, set, o.Goal().OfPatches()); err != nil {
		return err
	}
	if err := c.prepare(); err != nil {
		return err
	}
	found, err := findTargets(o.Files)
	if err != nil {
		return err
	}
	c.isPatch = found.patchFiles()
	for _, line := range found.skipped {
		p.Note("%s", line)
	}
	all := len(found.targets)
	if all == 0 {
		return voice.Usage(errors.New("no .yaml, .yml or .json file to convert: name their folder"), "")
	}
	for i, target := range found.targets {
		if ctx.Err() != nil {
			c.bar.Clear()
			return fmt.Errorf("interrupted: every file is either converted or as it was, run it again for the rest: %s", c.summary(i, all))
		}
		c.bar.Show(uint64(i), uint64(all), "file")
		c.file(ctx, target)
	}
	if !c.found && c.refused == 0 {
		c.noteNone(ctx, found.targets)
	} else {
		c.say("%s", c.summary(all, all))
	}
	switch {
	case c.writeFailed != nil:
		return c.writeFailed
	case c.refused > 0 || o.check && c.changed > 0:
		return voice.ErrReported
	}
	return nil
}
