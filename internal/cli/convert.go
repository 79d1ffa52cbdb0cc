package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/manifest"
)

func newConvertCommand(p *program) *cobra.Command {
	var o convertOptions
	cmd := &cobra.Command{
		Use:   "convert -f FILE|DIR|- [--to VERSION] [--strip] [--rules PATH --crd PATH] [-o yaml|json] [--diff] [-v]",
		Short: "Convert objects in files, offline",
		Long: `Convert the objects in YAML or JSON files to another version, with the same converters and the same checks as
serve. A file may hold several documents, and Lists, whose items are converted; a folder stands for the .yaml,
.yml and .json files in it and below. An object that is at the version already stays as it is; one of a kind
without a converter is a failure. Nothing is written to stdout unless all could be converted.

Numbers keep their spelling and keys their order; comments are lost. YAML is read as kubectl reads it, and
what could be misread, such as a duplicate key, is an error.

With --strip the annotations and labels are left out in which webhookd keeps what the version cannot say. Strip what you
export and apply again: a kept value that has become old would change the object. Without --to, objects of any kind
stay as they are otherwise.

With -v it says on stderr which values of each object are kept in annotations, because converting back would not give them,
and which ones rules drop, with their reasons.`,
		Example: `  webhookd convert -f crontab.yaml --to v1
  webhookd convert -f manifests/ --to example.com/v1 --diff
  kubectl get crontabs -o yaml | webhookd convert -f - --to v1 -o json
  kubectl get crontabs -o yaml | webhookd convert -f - --strip > crontabs.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return p.convert(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder to convert, - for stdin; may be given more than once")
	flags.StringVar(&o.to, "to", "", "`version` to convert to: v1, or example.com/v1 for objects of that group only")
	flags.StringVarP(&o.output, "output", "o", "", "`format`: yaml or json (default that of the input, yaml if it is mixed)")
	offer(cmd, "output", manifest.FormatYAML, manifest.FormatJSON)
	o.ruled.add(flags)
	flags.BoolVar(&o.strip, "strip", false, "leave out the annotations and labels in which webhookd keeps values; --to is not needed")
	flags.BoolVar(&o.diff, "diff", false, "print what changes as a unified diff, in place of the result")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "say which values are kept in annotations, which ones rules drop, and what --strip leaves out")
	return cmd
}

// convertOptions are the flags of convert.
type convertOptions struct {
	files   []string
	to      string
	output  string
	ruled   ruleFlags
	strip   bool
	diff    bool
	verbose bool
}

// check reports all that is wrong with the flags.
func (o *convertOptions) check() error {
	var problems []error
	if len(o.files) == 0 {
		problems = append(problems, errors.New("nothing to convert: give a file, a folder or - with --filename"))
	}
	_, version := o.target()
	switch {
	case o.to == "" && o.strip:
		if len(o.ruled.rules) > 0 || len(o.ruled.crds) > 0 {
			problems = append(problems, errors.New("of no use without --to: --rules and --crd"))
		}
	case o.to == "":
		problems = append(problems, errors.New("no version to convert to: give one with --to, such as v1"))
	case len(validation.IsDNS1035Label(version)) > 0 || strings.HasPrefix(o.to, "/"):
		problems = append(problems, fmt.Errorf("not a version: write VERSION or GROUP/VERSION: --to %q", o.to))
	}
	if o.output != "" && o.output != manifest.FormatYAML && o.output != manifest.FormatJSON {
		problems = append(problems, badOutput(o.output, manifest.FormatYAML, manifest.FormatJSON))
	}
	if err := o.ruled.check(o.files...); err != nil {
		problems = append(problems, err)
	}
	if len(problems) > 0 {
		return usage(errors.Join(problems...), "")
	}
	return nil
}

// target splits --to. The group is empty where none is given.
func (o *convertOptions) target() (group, version string) {
	if before, after, ok := strings.Cut(o.to, "/"); ok {
		return before, after
	}
	return "", o.to
}

// convert reads all files, converts all objects, and writes the results if nothing failed.
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
		return fmt.Errorf("nothing to convert: the files hold no objects: %s", namesOf(o.files))
	}
	if o.strip {
		if results, err = p.strip(results, o.verbose); err != nil {
			return err
		}
	}
	var out []byte
	if o.diff {
		out, err = diffs(inputs, results, o)
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

// convertInputs converts all objects, and reports what fails beside the error of the files that could not be read.
func (p *program) convertInputs(ctx context.Context, inputs []manifest.File, unread error, o *convertOptions) ([]manifest.File, error) {
	set, err := p.ruleSet(ctx, &o.ruled)
	if err != nil {
		return nil, errors.Join(unread, err)
	}
	registry, err := set.Registry()
	if err != nil {
		return nil, err
	}
	converter := newOffline(p, registry)
	converter.group, converter.version = o.target()
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
	return results, p.tellKept(ctx, inputs, results, &dropTeller{set: set, converter: converter})
}

// format returns the format of the output.
func (o *convertOptions) format(inputs []manifest.File) string {
	if o.output != "" {
		return o.output
	}
	for _, in := range inputs {
		if in.Format == manifest.FormatYAML && len(in.Documents) > 0 {
			return manifest.FormatYAML
		}
	}
	return manifest.FormatJSON
}
