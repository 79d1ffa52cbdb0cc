package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// New returns the command convert.
func New(p *voice.Program) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert FILE|DIR|-... [--to VERSION] [--strip] [--rules PATH --crds PATH] [-o yaml|json] [--diff] [-v]",
		Short: "Convert objects in files",
		Long: `Convert the objects in YAML or JSON files to another version, with the same converters and checks as serve. A file may
hold several documents and Lists, whose items are converted. A folder includes the .yaml, .yml and .json files in it and
below. An object that is already at the version stays as it is. Nothing is written to stdout unless every object can be
converted.

Numbers keep their spelling and keys keep their order; comments are lost. YAML is read as kubectl reads it, and anything
ambiguous, such as a duplicate key, is an error. webhookd rewrite changes files where they are, and keeps comments.

With --strip the output can be applied: it lacks status and the metadata that the API server sets, and the annotations and
labels in which webhookd keeps values that the version cannot express. Without --to it works for objects of any kind.

A manifest may leave out a field whose default means something else at the other version. Such fields are named.
--defaults write writes them out, at the version of the file, before it is converted. --defaults ignore is for patches,
which leave fields to what they are applied to.`,
		Example: `  webhookd convert crontab.yaml --to v1
  webhookd convert manifests/ --to example.com/v1 --diff
  kubectl get crontabs -o yaml | webhookd convert - --to v1 -o json
  kubectl get crontabs -o yaml | webhookd convert - --strip > crontabs.yaml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return run(cmd.Context(), p, &o)
		},
	}
	o.Add(cmd, "`path` of a file or folder to convert, - for stdin")
	flags := cmd.Flags()
	flags.StringVarP(&o.output, "output", "o", "", "`format`: yaml or json (default that of the input, yaml if mixed)")
	voice.Offer(cmd, "output", manifest.FormatYAML, manifest.FormatJSON)
	flags.BoolVar(&o.strip, "strip", false, "remove kept values, status and what the API server sets in metadata; works without --to")
	return cmd
}

// convertOptions are the flags of convert.
type convertOptions struct {
	offline.GoalFlags

	output string
	strip  bool
}

// check reports everything that is wrong with the flags.
func (o *convertOptions) check() error {
	return voice.Usage(errors.Join(
		voice.Problem(len(o.Files) == 0, "nothing to convert: name files or folders of objects, or - for stdin"), o.Check(!o.strip),
		voice.CheckOutput(cmp.Or(o.output, manifest.FormatYAML), manifest.FormatYAML, manifest.FormatJSON)), "")
}

// run reads all files, converts all objects, and writes the results if nothing fails.
func run(ctx context.Context, p *voice.Program, o *convertOptions) error {
	inputs, err := offline.Objects(p, o.Files)
	c := &conversion{p: p, o: o}
	if o.To != "" {
		set, loadErr := o.Ruled.Load(ctx, p)
		if loadErr == nil {
			c.converter, loadErr = offline.New(p, o.Goal().Set(set))
		}
		if loadErr != nil {
			return errors.Join(err, loadErr)
		}
	}
	results, convertErr := offline.Each(inputs, func(name string, document []byte) ([]byte, error) { return c.document(ctx, name, document) })
	if err := errors.Join(err, convertErr); err != nil {
		return err
	}
	if !slices.ContainsFunc(inputs, func(in manifest.File) bool { return len(in.Documents) > 0 }) {
		return fmt.Errorf("%s: nothing to convert: the files hold no objects", offline.NamesOf(o.Files))
	}
	for _, note := range c.notes {
		p.Note("%s", note)
	}
	return o.write(p, inputs, results)
}

// A conversion converts and strips documents.
type conversion struct {
	p         *voice.Program
	o         *convertOptions
	converter *offline.Converter // nil without --to
	notes     []string
}

// document converts and strips one document. The error joins one for each object that fails.
func (c *conversion) document(ctx context.Context, name string, text []byte) ([]byte, error) {
	note := func(lines []string) {
		for _, line := range lines {
			c.notes = append(c.notes, name+": "+line)
		}
	}
	if c.converter != nil {
		goal := c.o.Goal()
		after, items, err := c.converter.Document(ctx, text, goal)
		if leftOut := offline.LeftOut(items); len(leftOut) > 0 {
			c.p.Note("%s: it leaves out fields whose defaults mean something else at %s; write them out with --defaults write: %s", name, goal.Version, offline.Few(leftOut))
		}
		if err == nil && c.o.strip {
			err = c.noteDiscarded(ctx, name, items)
		}
		if err == nil && c.o.Verbose {
			var lines []string
			lines, err = c.converter.Report(ctx, items, goal.Version)
			note(lines)
		}
		if err != nil {
			return nil, err
		}
		text = after
	}
	if !c.o.strip {
		return text, nil
	}
	stripped, removed, err := offline.Strip(text)
	if c.o.Verbose {
		note(removed)
	}
	if err != nil {
		return nil, err
	}
	return offline.StripServerSet(stripped)
}

// noteDiscarded names the values that are lost with the annotations that hold them.
func (c *conversion) noteDiscarded(ctx context.Context, name string, items []offline.Item) error {
	for i := range items {
		if items[i].After == nil {
			continue
		}
		lost, err := c.converter.Discarded(ctx, &items[i])
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			c.notes = append(c.notes, fmt.Sprintf("%s: %sdiscarded, since %s cannot express them: %s", name, items[i].At, c.o.Goal().Version, offline.Few(lost)))
		}
	}
	return nil
}

// write writes the results, or what changes.
func (o *convertOptions) write(p *voice.Program, inputs, results []manifest.File) error {
	var out []byte
	var err error
	if o.Diff {
		label := "stripped"
		if o.To != "" && o.strip {
			label = o.To + ", stripped"
		} else if o.To != "" {
			label = o.To
		}
		out, err = offline.Diffs(inputs, results, o.output, label)
		out = p.PaintDiff(out)
	} else {
		format := cmp.Or(o.output, manifest.FormatJSON)
		if o.output == "" && slices.ContainsFunc(inputs, func(in manifest.File) bool { return in.Format == manifest.FormatYAML && len(in.Documents) > 0 }) {
			format = manifest.FormatYAML
		}
		out, err = offline.Render(results, format)
	}
	if err != nil {
		return err
	}
	return p.Print(string(out))
}
