package convert

import (
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
below. An object that is already at the version stays as it is. An object of a kind without a converter is an error.
Nothing is written to stdout unless every object can be converted.

Numbers keep their spelling and keys keep their order; comments are lost. YAML is read as kubectl reads it, and anything
ambiguous, such as a duplicate key, is an error. webhookd rewrite changes files where they are, and keeps comments.

With --strip the output lacks the annotations and labels in which webhookd keeps values that the version cannot express.
Strip objects that you export and apply again: an outdated kept value would change the object. Without --to, --strip
changes nothing else, and works for objects of any kind.

webhookd check --live sums up what becomes of all objects of a cluster, at all versions and on the way back.

A manifest may leave out a field whose default means something else at the other version. Such fields are named.
--defaults write writes them out, at the version of the file, before it is converted. --defaults ignore is for patches,
which leave fields to what they are applied to.

With -v it lists on stderr which values of each object are kept in annotations because the reverse conversion would lose
them, and which values rules drop, with their reasons.`,
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
	flags.BoolVar(&o.strip, "strip", false, "remove the annotations and labels in which webhookd keeps values; works without --to")
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
	problems := []error{offline.CheckDefaults(o.Defaults)}
	if len(o.Files) == 0 {
		problems = append(problems, errors.New("nothing to convert: name files or folders of objects, or - for stdin"))
	}
	if o.To != "" || !o.strip {
		problems = append(problems, o.CheckVersion())
	} else if len(o.Ruled.Rules) > 0 || len(o.Ruled.CRDs) > 0 || o.Defaults != "" {
		problems = append(problems, errors.New("--rules, --crds and --defaults: of no use without --to"))
	}
	if o.output != "" && o.output != manifest.FormatYAML && o.output != manifest.FormatJSON {
		problems = append(problems, voice.BadOutput(o.output, manifest.FormatYAML, manifest.FormatJSON))
	}
	return voice.Usage(errors.Join(append(problems, o.Ruled.Check(o.Files...))...), "")
}

// convert reads all files, converts all objects, and writes the results if nothing fails.
func run(ctx context.Context, p *voice.Program, o *convertOptions) error {
	inputs, err := offline.Objects(p, o.Files)
	results := inputs
	if o.To != "" {
		results, err = convertInputs(ctx, p, inputs, err, o)
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(inputs, func(in manifest.File) bool { return len(in.Documents) > 0 }) {
		return fmt.Errorf("%s: nothing to convert: the files hold no objects", offline.NamesOf(o.Files))
	}
	if o.strip {
		if results, err = strip(p, results, o.Verbose); err != nil {
			return err
		}
	}
	var out []byte
	if o.Diff {
		out, err = offline.Diffs(inputs, results, o.output, o.outcome())
		out = p.PaintDiff(out)
	} else {
		out, err = offline.Render(results, o.format(inputs))
	}
	if err != nil {
		return err
	}
	if _, err := p.Stdout.Write(out); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// convertInputs converts all objects. It joins its errors to unread, the error for files that could
// not be read.
func convertInputs(ctx context.Context, p *voice.Program, inputs []manifest.File, unread error, o *convertOptions) ([]manifest.File, error) {
	set, registry, err := offline.Registry(ctx, p, &o.Ruled)
	if err != nil {
		return nil, errors.Join(unread, err)
	}
	converter := offline.New(p, registry)
	converter.Group, converter.Version = o.Target()
	converter.LeftOut = offline.NewLeftOuts(set, o.Defaults)
	problems := []error{unread}
	results := make([]manifest.File, 0, len(inputs))
	for _, in := range inputs {
		result, err := converter.Input(ctx, in)
		problems = append(problems, err)
		results = append(results, result)
	}
	if err := errors.Join(problems...); err != nil || !o.Verbose {
		return results, err
	}
	return results, offline.NoteKept(ctx, p, inputs, results, &offline.DropReporter{Set: set, Converter: converter})
}

// format returns the format of the output.
func (o *convertOptions) format(inputs []manifest.File) string {
	if o.output != "" {
		return o.output
	}
	if slices.ContainsFunc(inputs, func(in manifest.File) bool { return in.Format == manifest.FormatYAML && len(in.Documents) > 0 }) {
		return manifest.FormatYAML
	}
	return manifest.FormatJSON
}

// outcome is the label for the new side of a diff.
func (o *convertOptions) outcome() string {
	switch {
	case o.To == "":
		return "stripped"
	case o.strip:
		return o.To + ", stripped"
	}
	return o.To
}

// strip removes the annotations and labels of webhookd from all documents, and reports each
// document that is not an object. With verbose it prints what it removes.
func strip(p *voice.Program, inputs []manifest.File, verbose bool) ([]manifest.File, error) {
	results := make([]manifest.File, len(inputs))
	var problems []error
	for i, in := range inputs {
		results[i] = manifest.File{Name: in.Name, Format: in.Format}
		for j, document := range in.Documents {
			removed := func(at, key string) {
				if verbose {
					p.Note("%s: %sremoved %s", in.Describe(j), at, key)
				}
			}
			text, err := offline.StripDocument(document, removed)
			for _, problem := range offline.Split(err) {
				problems = append(problems, fmt.Errorf("%s: %w", in.Describe(j), problem))
			}
			results[i].Documents = append(results[i].Documents, text)
		}
	}
	return results, errors.Join(problems...)
}
