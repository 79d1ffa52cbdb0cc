package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

func newConvertCommand(p *program) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert FILE|DIR|-... | --in-place DIR [--to VERSION] [--strip] [--rules PATH --crds PATH] [-o yaml|json] [--diff] [-v]",
		Short: "Convert objects in files",
		Long: `Convert the objects in YAML or JSON files to another version, with the same converters and checks as serve. A file may
hold several documents and Lists, whose items are converted. A folder includes the .yaml, .yml and .json files in it and
below. An object that is already at the version stays as it is. An object of a kind without a converter is an error.
Nothing is written to stdout unless every object can be converted.

Numbers keep their spelling and keys keep their order; comments are lost. YAML is read as kubectl reads it, and anything
ambiguous, such as a duplicate key, is an error.

With --strip the output lacks the annotations and labels in which webhookd keeps values that the version cannot express.
Strip objects that you export and apply again: an outdated kept value would change the object. Without --to, --strip
changes nothing else, and works for objects of any kind.

webhookd check --live sums up what becomes of all objects of a cluster, at all versions and on the way back.

With --in-place it changes files where they are, and in them only what the conversion changes: comments, order, quoting and
other documents stay byte for byte. It converts objects of the kinds that have the version, and leaves all others alone. It
prints each document and what changes there, by path. A file is left as it is, and named, if values would have to be kept in
annotations (unless --keep or --discard), or if it is a template or an anchor is in the way; the exit code is 1 then. Rules
with errors change no file. --diff and --check write nothing; with --check the exit code is 1 if there is something to
convert. Without any object of these kinds it says which kinds there are instead, and the exit code is 0; without any file to
read it is 2.

A manifest may leave out a field whose default means something else at the other version. Such fields are named, and a file
with one is not changed by --in-place. --defaults write writes them out, at the version of the file, before it is converted.
--defaults ignore is for patches, which leave fields to what they are applied to.

With -v it lists on stderr which values of each object are kept in annotations because the reverse conversion would lose
them, and which values rules drop, with their reasons.`,
		Example: `  webhookd convert crontab.yaml --to v1
  webhookd convert manifests/ --to example.com/v1 --diff
  kubectl get crontabs -o yaml | webhookd convert - --to v1 -o json
  kubectl get crontabs -o yaml | webhookd convert - --strip > crontabs.yaml
  webhookd convert --in-place clusters/ --to v1 --rules rules.yaml --crds crds/
  webhookd convert --in-place . --to v1 --rules rules/ --check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(o.inPlace.paths) > 0 { // as for a shell's --in-place clusters/*
				o.inPlace.paths, o.files = append(o.inPlace.paths, o.files...), nil
			}
			if err := o.check(); err != nil {
				return err
			}
			if len(o.inPlace.paths) > 0 {
				return p.convertInPlace(cmd.Context(), &o)
			}
			return p.convert(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder to convert, - for stdin; may be given more than once; same as an argument")
	flags.StringVar(&o.to, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	flags.StringVarP(&o.output, "output", "o", "", "`format`: yaml or json (default that of the input, yaml if mixed)")
	offer(cmd, "output", manifest.FormatYAML, manifest.FormatJSON)
	o.ruled.add(flags)
	flags.BoolVar(&o.strip, "strip", false, "remove the annotations and labels in which webhookd keeps values; works without --to")
	flags.BoolVar(&o.diff, "diff", false, "print a unified diff instead of the result")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "say which values are kept in annotations, which ones rules drop, and what --strip removes")
	flags.StringVar(&o.defaults, "defaults", "", "`choice`: write fields that a file leaves out and whose defaults mean something else at the\nversion, or ignore them (default: name them, and with --in-place leave the file)")
	offer(cmd, "defaults", defaultsWrite, defaultsIgnore)
	flags.StringArrayVar(&o.inPlace.paths, "in-place", nil, "`path` of a file or folder to change where it is, as are those of arguments then; may be given more than once")
	flags.BoolVar(&o.inPlace.check, "check", false, "with --in-place: write nothing, and exit with 1 if there is something to convert")
	flags.BoolVar(&o.inPlace.keep, "keep", false, "with --in-place: write values that the version cannot express into annotations")
	flags.BoolVar(&o.inPlace.discard, "discard", false, "with --in-place: leave out values that the version cannot express")
	filesAfter(cmd, "filename")
	return cmd
}

// convertOptions are the flags of convert.
type convertOptions struct {
	files   []string
	to      string
	output  string
	ruled   ruleFlags
	inPlace inPlaceFlags
	// defaults is defaultsWrite, defaultsIgnore or empty.
	defaults string
	strip    bool
	diff     bool
	verbose  bool
}

// check reports everything that is wrong with the flags.
func (o *convertOptions) check() error {
	var problems []error
	if len(o.files) == 0 && len(o.inPlace.paths) == 0 {
		problems = append(problems, errors.New("nothing to convert: name files or folders of objects, or - for stdin"))
	}
	problems = append(problems, checkDefaults(o.defaults))
	problems = append(problems, o.inPlace.problems(o)...)
	_, version := o.target()
	switch {
	case o.to == "" && o.strip:
		if len(o.ruled.rules) > 0 || len(o.ruled.crds) > 0 || o.defaults != "" {
			problems = append(problems, errors.New("--rules, --crds and --defaults: of no use without --to"))
		}
	case o.to == "":
		problems = append(problems, errors.New("no version to convert to: give one with --to, such as v1"))
	case len(validation.IsDNS1035Label(version)) > 0 || strings.HasPrefix(o.to, "/"):
		problems = append(problems, fmt.Errorf("--to %q: not a version: write VERSION or GROUP/VERSION", o.to))
	}
	if o.output != "" && o.output != manifest.FormatYAML && o.output != manifest.FormatJSON {
		problems = append(problems, badOutput(o.output, manifest.FormatYAML, manifest.FormatJSON))
	}
	if err := o.ruled.check(o.files...); err != nil {
		problems = append(problems, err)
	}
	return usage(errors.Join(problems...), "")
}

// target splits --to. The group may be empty.
func (o *convertOptions) target() (group, version string) {
	if before, after, ok := strings.Cut(o.to, "/"); ok {
		return before, after
	}
	return "", o.to
}

// convert reads all files, converts all objects, and writes the results if nothing fails.
func (p *program) convert(ctx context.Context, o *convertOptions) error {
	inputs, err := p.readInputs(o.files)
	results := inputs
	if o.to != "" {
		results, err = p.convertInputs(ctx, inputs, err, o)
	}
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(inputs, func(in manifest.File) bool { return len(in.Documents) > 0 }) {
		return fmt.Errorf("%s: nothing to convert: the files hold no objects", namesOf(o.files))
	}
	if o.strip {
		if results, err = p.strip(results, o.verbose); err != nil {
			return err
		}
	}
	var out []byte
	if o.diff {
		out, err = diffs(inputs, results, o)
		out = p.paintDiff(out)
	} else {
		out, err = render(results, o.format(inputs))
	}
	if err != nil {
		return err
	}
	if _, err := p.stdout.Write(out); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// convertInputs converts all objects. It joins its errors to unread, the error for files that could
// not be read.
func (p *program) convertInputs(ctx context.Context, inputs []manifest.File, unread error, o *convertOptions) ([]manifest.File, error) {
	set, registry, err := p.registry(ctx, &o.ruled)
	if err != nil {
		return nil, errors.Join(unread, err)
	}
	converter := newOffline(p, registry)
	converter.group, converter.version = o.target()
	converter.leftOut = newLeftOuts(set, o.defaults)
	problems := []error{unread}
	results := make([]manifest.File, 0, len(inputs))
	for _, in := range inputs {
		result, err := converter.input(ctx, in)
		problems = append(problems, err)
		results = append(results, result)
	}
	if err := errors.Join(problems...); err != nil || !o.verbose {
		return results, err
	}
	return results, p.noteKept(ctx, inputs, results, &dropReporter{set: set, converter: converter})
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
