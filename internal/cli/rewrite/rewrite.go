package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/yamledit"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
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

A file is left as it is, and named, if values would have to be kept in annotations (unless --keep or --discard), or if it is
a template or an anchor is in the way; the exit code is 1 then. Rules with errors change no file. --diff and --check write
nothing; with --check the exit code is 1 if there is something to convert. Without any object of these kinds it says which
kinds there are instead, and the exit code is 0; without any file to read it is 2.

A manifest may leave out a field whose default means something else at the other version. A file with such a field is not
changed. --defaults write writes them out, at the version of the file, before it is converted. --defaults ignore is for
patches, which leave fields to what they are applied to.`,
		Example: `  webhookd rewrite clusters/ --to v1 --rules rules.yaml --crds crds/
  webhookd rewrite . --to v1 --rules rules/ --check`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.problems(); err != nil {
				return voice.Usage(err, "")
			}
			return run(cmd.Context(), p, &o)
		},
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
	problems := []error{offline.CheckDefaults(o.Defaults)}
	if len(o.Files) == 0 {
		problems = append(problems, errors.New("nothing to convert: name files or folders of objects"))
	}
	if slices.Contains(o.Files, offline.Stdin) {
		problems = append(problems, errors.New("-: stdin has no place to change, use webhookd convert"))
	}
	if o.keep && o.discard {
		problems = append(problems, errors.New("values that the version cannot express are kept or discarded: give --keep or --discard"))
	}
	return errors.Join(append(problems, o.CheckVersion(), o.Ruled.Check())...)
}

// rewrite converts the objects in files, and changes nothing else there.
func run(ctx context.Context, p *voice.Program, o *rewriteOptions) error {
	set, registry, err := offline.Registry(ctx, p, &o.Ruled)
	if err != nil {
		return err
	}
	if wrong := finding.Worst(set.Findings, finding.Error); len(wrong) > 0 && !o.Diff && !o.check {
		return voice.Hint(fmt.Errorf("no file is changed by rules with %s", voice.CountBySeverity(wrong)), "fix them, or see what they would do with --diff")
	}
	c := &rewriting{p: p, o: o, Converter: offline.New(p, registry)}
	c.drops = &offline.DropReporter{Set: set, Converter: offline.New(p, registry)}
	c.Group, c.Version = o.Target()
	c.InPlace, c.LeftOut = c.converted, offline.NewLeftOuts(set, o.Defaults)
	if err := c.prepare(); err != nil {
		return err
	}
	found, err := findTargets(o.Files)
	if err != nil {
		return err
	}
	for _, line := range found.skipped {
		p.Note("%s", line)
	}
	if len(found.targets) == 0 {
		return voice.Usage(errors.New("no .yaml, .yml or .json file to convert: name their folder"), "")
	}
	progress := voice.NewProgress(p.Stderr, "rewrite")
	for i, target := range found.targets {
		if ctx.Err() != nil {
			progress.Clear()
			return fmt.Errorf("interrupted: every file is either converted or as it was, run it again for the rest: %s", c.summary(i, len(found.targets)))
		}
		c.bar = progress
		progress.Show(uint64(i), uint64(len(found.targets)), "file")
		c.file(ctx, target)
	}
	progress.Clear()
	if !c.found && c.refused == 0 {
		c.noteNone(ctx, found.targets)
	} else {
		p.Note("%s", c.summary(len(found.targets), len(found.targets)))
	}
	if c.writeFailed != nil {
		return fmt.Errorf("cannot write the result: %w", c.writeFailed)
	}
	if c.refused > 0 || o.check && c.changed > 0 {
		return voice.ErrReported
	}
	return nil
}

// An rewriting converts files, one by one.
type rewriting struct {
	*offline.Converter

	p     *voice.Program
	o     *rewriteOptions
	drops *offline.DropReporter
	bar   *voice.Progress

	groups   [][]byte       // of the kinds that have the version
	mentions *regexp.Regexp // an apiVersion of these groups

	found                                    bool // an object of these kinds, at any version
	objects, changed, refused, skipped, none int
	writeFailed                              error

	// Of the document at hand.
	name string
	from []string
	kept []string
	done int
}

// prepare finds the kinds that have the version.
func (c *rewriting) prepare() error {
	var groups []string
	for _, kind := range c.Registry.Kinds() {
		if kind.Has(c.Version) && (c.Group == "" || c.Group == kind.Group) && !slices.Contains(groups, kind.Group) {
			groups = append(groups, kind.Group)
		}
	}
	if len(groups) == 0 {
		return voice.Usage(fmt.Errorf("--to %s: no kind has this version, %s", c.o.To, c.versions()), "give rules of other kinds with --rules and --crds")
	}
	quoted := make([]string, len(groups))
	for i, group := range groups {
		c.groups = append(c.groups, []byte(group))
		quoted[i] = regexp.QuoteMeta(group)
	}
	c.mentions = regexp.MustCompile(`apiVersion["']?\s*:\s*["']?(?:` + strings.Join(quoted, "|") + `)/([^\s"',}#]+)`)
	return nil
}

// versions says which versions the kinds have.
func (c *rewriting) versions() string {
	kinds := c.Registry.Kinds()
	all := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		all = append(all, fmt.Sprintf("%s has %s", kind.Name(), strings.Join(kind.Versions, " and ")))
	}
	if len(all) == 0 {
		return "as there are no rules"
	}
	return finding.Few(all, maxKinds)
}

// file converts one file.
func (c *rewriting) file(ctx context.Context, t target) {
	text, info, err := t.read()
	if err != nil {
		c.refuse("%v", err)
		return
	}
	if !slices.ContainsFunc(c.groups, func(group []byte) bool { return bytes.Contains(text, group) }) {
		c.none++
		return
	}
	file, err := parseForEdit(t.name, text)
	if err != nil {
		c.unreadable(t.name, text, err)
		return
	}
	values, lines, objects, ok := c.documents(ctx, t.name, file)
	if !ok {
		c.refused++
		return
	}
	if !slices.ContainsFunc(values, func(value []byte) bool { return value != nil }) {
		c.none++
		return
	}
	result, err := file.Edit(values)
	if err != nil {
		for _, problem := range offline.Split(err) {
			if edit, ok := errors.AsType[*yamledit.EditError](problem); ok {
				c.say("%s: %s", at(t.name, file, edit.Index, edit.Line), edit.Problem)
				continue
			}
			c.say("%s: %v", t.name, problem)
		}
		c.refused++
		return
	}
	if c.finish(t, info, text, result, lines) {
		c.objects += objects
		c.changed++
	}
}

// parseForEdit reads a file by the format of its extension.
func parseForEdit(name string, text []byte) (*yamledit.File, error) {
	if manifest.FormatOf(name) == manifest.FormatJSON {
		return yamledit.ParseJSON(text)
	}
	return yamledit.ParseYAML(text)
}

// unreadable refuses a file that seems to have objects to convert, and skips any other.
func (c *rewriting) unreadable(name string, text []byte, err error) {
	reason := err.Error()
	if bytes.Contains(text, []byte("{{")) {
		reason = "a template, not YAML ({{): convert what it renders to, or change it by hand"
	} else if tabbed := strings.Contains(reason, "cannot start any token") && bytes.Contains(text, []byte("\t")); tabbed {
		reason += ", indent with spaces, not tabs"
	}
	for _, match := range c.mentions.FindAllSubmatch(text, -1) {
		if string(match[1]) != c.Version {
			c.refuse("%s: %s", name, reason)
			return
		}
	}
	c.skipped++
	c.say("skipped, with no object to convert: %s: %s", name, reason)
}

// at names a document of a file by its first line or another one.
func at(name string, file *yamledit.File, index, line int) string {
	name = fmt.Sprintf("%s:%d", name, cmp.Or(line, file.Documents[index].Line))
	if len(file.Documents) > 1 {
		name += fmt.Sprintf(": document %d", index+1)
	}
	return name
}

// documents converts all documents of a file. Values are nil for those that stay. The lines say
// what each one is. It reports every document that fails.
func (c *rewriting) documents(ctx context.Context, name string, file *yamledit.File) (values [][]byte, lines []string, objects int, ok bool) {
	ok = true
	values, lines = make([][]byte, len(file.Documents)), make([]string, len(file.Documents))
	for i := range file.Documents {
		before := file.Documents[i].JSON
		_, gvk, err := manifest.ParseObject(before)
		c.found = c.found || slices.ContainsFunc(c.ObjectKinds(before), c.Known)
		if err != nil || !c.Wanted(gvk) && !c.IsList(gvk) {
			continue // not an object, or one of another kind
		}
		c.name, c.from, c.kept, c.done = at(name, file, i, 0), nil, nil, 0
		after, err := c.Document(ctx, before)
		if err == nil && c.done > 0 && isPatch(before) {
			err = errors.New("a strategic merge patch, which is no object to convert: change it by hand")
		}
		for _, problem := range offline.Split(err) {
			c.say("%s: %v", c.name, problem)
			ok = false
		}
		paths := c.LeftOut.Taken()
		switch {
		case paths != "":
			c.say("%s: %s: not converted, since it leaves out fields whose defaults mean something else at %s; write them out with --defaults write, "+
				"or if it is a patch, convert it with --defaults ignore: %s", c.name, objectName(before, gvk), c.Version, paths)
			ok = false
		case len(c.kept) > 0 && !c.o.keep && !c.o.discard:
			c.say("%s: %s: not converted, since %s cannot express these values, which --keep writes into annotations and --discard leaves out: %s",
				c.name, objectName(before, gvk), c.Version, finding.Few(c.kept, offline.MaxChanges))
			ok = false
		}
		if err == nil && c.done > 0 {
			values[i] = after
			slices.Sort(c.from)
			lines[i] = fmt.Sprintf("%s: %s: %s -> %s", c.name, objectName(before, gvk), strings.Join(slices.Compact(c.from), ", "), c.Version)
			if c.IsList(gvk) {
				lines[i] += " in " + voice.Count(c.done, "item")
			}
			objects += c.done
		}
	}
	return values, lines, objects, ok
}

// objectName names an object.
func objectName(object []byte, gvk schema.GroupVersionKind) string {
	return strings.TrimSpace(gvk.Kind + " " + offline.NameOf(object))
}

// isPatch reports whether an object has directives of a strategic merge patch.
func isPatch(object []byte) bool {
	return slices.ContainsFunc([]string{`"$patch"`, `"$retainKeys"`, `"$setElementOrder/`, `"$deleteFromPrimitiveList/`}, func(directive string) bool {
		return bytes.Contains(object, []byte(directive))
	})
}

// converted decides what an object becomes if values had to be kept.
func (c *rewriting) converted(ctx context.Context, before, after []byte, gvk schema.GroupVersionKind) ([]byte, error) {
	c.done++
	c.from = append(c.from, gvk.Version)
	if c.o.Verbose {
		if err := offline.NoteKeptOf(ctx, c.p, c.name, before, after, c.drops); err != nil {
			return nil, err
		}
	}
	kept := offline.KeptPaths(before, after)
	c.kept = append(c.kept, kept...)
	if len(kept) > 0 && c.o.discard {
		return offline.WithoutKept(after)
	}
	return after, nil
}

// finish prints what changes in a file, and writes it. It returns false if it cannot.
func (c *rewriting) finish(t target, info fs.FileInfo, before []byte, result yamledit.Result, lines []string) bool {
	if !c.o.Diff && !c.o.check {
		if err := t.replace(info, result.Text); err != nil {
			c.refuse("%v", err)
			return false
		}
	}
	var out bytes.Buffer
	if c.o.Diff {
		name := filepath.ToSlash(t.name)
		out.Write(diff.Diff(name, before, name+" ("+c.o.To+")", result.Text))
	} else {
		for i, line := range lines {
			if line == "" {
				continue
			}
			var changes []string
			for _, change := range result.Changes[i] {
				changes = append(changes, change.String())
			}
			fmt.Fprintf(&out, "%s: %s%s\n", line, finding.Few(changes, offline.MaxChanges), lostComments(result.LostComments[i]))
		}
	}
	c.bar.Clear()
	if _, err := c.p.Stdout.Write(out.Bytes()); err != nil && c.writeFailed == nil {
		c.writeFailed = err
	}
	return true
}

// lostComments says which comments go with what they are about.
func lostComments(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = fmt.Sprint(line)
	}
	what := "; without the comments of lines "
	if len(lines) == 1 {
		what = "; without the comment of line "
	}
	return what + finding.Few(texts, offline.MaxChanges)
}

// say prints a message about a file.
func (c *rewriting) say(format string, args ...any) {
	c.bar.Clear()
	c.p.Note(format, args...)
}

// refuse leaves a file as it is.
func (c *rewriting) refuse(format string, args ...any) {
	c.refused++
	c.say(format, args...)
}

// summary counts what has been done to the files, of which some may be left.
func (c *rewriting) summary(done, files int) string {
	verb := "converted"
	if c.o.check || c.o.Diff {
		verb = "to convert:"
	}
	parts := []string{fmt.Sprintf("%s %s in %s of %d", verb, voice.Count(c.objects, "object"), voice.Count(c.changed, "file"), files)}
	for _, part := range []struct {
		n    int
		what string
	}{{c.none, "with nothing to convert"}, {c.refused, "refused, see above"}, {c.skipped, "not readable, skipped"}, {files - done, "left"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, "; ")
}
