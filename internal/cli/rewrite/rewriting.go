package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/document/yamledit"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// A rewriting converts files, one by one.
type rewriting struct {
	p       *voice.Program
	o       *rewriteOptions
	way                     // of whole objects, unless --defaults says otherwise
	patches way             // of patches
	isPatch map[string]bool // by the paths of files
	bar     *voice.Progress

	wanted   []string       // the names of the kinds that have the version
	groups   [][]byte       // of these kinds
	mentions *regexp.Regexp // an apiVersion of these groups

	found                                    bool // an object of these kinds, at any version
	objects, changed, refused, skipped, none int
	writeFailed                              error
}

// A way is how documents are converted.
type way struct {
	converter *offline.Converter
	goal      offline.Goal
}

// prepare finds the kinds that have the version.
func (c *rewriting) prepare() error {
	var quoted []string
	kinds := c.converter.Registry.Kinds()
	has := make([]string, 0, len(kinds))
	for _, kind := range kinds {
		has = append(has, fmt.Sprintf("%s has %s", kind.Name(), strings.Join(kind.Versions, " and ")))
		if c.converter.Has(c.goal, kind.WithVersion("")) {
			c.wanted, c.groups = append(c.wanted, kind.Name()), append(c.groups, []byte(kind.Group))
			quoted = append(quoted, regexp.QuoteMeta(kind.Group))
		}
	}
	if len(quoted) == 0 {
		return voice.Usage(fmt.Errorf("--to %s: no kind has this version, %s", c.o.To, cmp.Or(offline.Few(has), "as there are no rules")), "give rules of other kinds with --rules and --crds")
	}
	c.mentions = regexp.MustCompile(`apiVersion["']?\s*:\s*["']?(?:` + strings.Join(quoted, "|") + `)/([^\s"',}#]+)`)
	return nil
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
	values, lines, objects, ok := c.documents(ctx, t, file)
	switch {
	case !ok:
		c.refused++
		return
	case objects == 0:
		c.none++
		return
	}
	result, err := file.Edit(values)
	if err != nil {
		for _, problem := range offline.Split(err) {
			name := t.name
			if edit, ok := errors.AsType[*yamledit.EditError](problem); ok {
				name, problem = at(t.name, file, edit.Index, edit.Line), errors.New(edit.Problem)
			}
			c.say("%s: %v", name, problem)
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
		if string(match[1]) != c.goal.Version {
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
func (c *rewriting) documents(ctx context.Context, t target, file *yamledit.File) (values [][]byte, lines []string, objects int, ok bool) {
	ok = true
	by := c.way
	if c.isPatch[t.path] {
		by = c.patches
	}
	values, lines = make([][]byte, len(file.Documents)), make([]string, len(file.Documents))
	for i := range file.Documents {
		name := at(t.name, file, i, 0)
		after, line, n, err := c.document(ctx, by, name, file.Documents[i].JSON)
		for _, problem := range append(offline.Split(err), c.inlinePatches(file.Documents[i].JSON)...) {
			c.say("%s: %v", name, problem)
			ok = false
		}
		if n > 0 {
			values[i], lines[i] = after, name+": "+line
			objects += n
		}
	}
	return values, lines, objects, ok
}

// document converts one document. It returns the new text, what it is in words, and the number of
// objects that are converted.
func (c *rewriting) document(ctx context.Context, by way, name string, text []byte) (after []byte, line string, objects int, err error) {
	after, items, err := by.converter.Document(ctx, text, by.goal)
	var from, lost []string
	inList := false
	for i := range items {
		item := &items[i]
		c.found = c.found || c.converter.Has(c.goal, item.Type)
		if item.After != nil {
			from, inList = append(from, item.Type.Version), item.At != ""
			if err == nil && !c.o.keep {
				var places []string
				places, err = by.converter.Discarded(ctx, item)
				lost = append(lost, places...)
			}
		}
	}
	if err == nil && c.o.Verbose {
		var lines []string
		lines, err = by.converter.Report(ctx, items, c.goal.Version)
		for _, line := range lines {
			c.say("%s: %s", name, line)
		}
	}
	if err != nil || len(from) == 0 {
		return nil, "", 0, err
	}
	_, gvk, _ := manifest.ParseObject(text) // it has been converted
	object := strings.TrimSpace(gvk.Kind + " " + offline.NameOf(text))
	switch {
	case hasDirectives(text):
		return nil, "", 0, errors.New("a strategic merge patch, which is no object to convert: change it by hand")
	case len(offline.LeftOut(items)) > 0:
		return nil, "", 0, fmt.Errorf("%s: not converted, since it leaves out fields whose defaults mean something else at %s (%s): write them out with --defaults write, "+
			"or if it is a patch, convert it with --defaults ignore", object, c.goal.Version, offline.Few(offline.LeftOut(items)))
	case len(lost) > 0 && !c.o.discard:
		return nil, "", 0, fmt.Errorf("%s: not converted, since %s cannot express these values (%s): --keep writes them into annotations, --discard leaves them out",
			object, c.goal.Version, offline.Few(lost))
	case len(lost) > 0:
		c.say("%s: %s: discarded, since %s cannot express them: %s", name, object, c.goal.Version, offline.Few(lost))
	}
	line = object + ": " + offline.Few(from) + " -> " + c.goal.Version
	if inList {
		line += " in " + voice.Count(len(from), "item")
	}
	return after, line, len(from), nil
}

// inlinePatches names the patches at other versions that a document has as texts.
func (c *rewriting) inlinePatches(document []byte) (problems []error) {
	inline, _ := patchesIn(document)
	for _, p := range inline {
		file, err := yamledit.ParseYAML([]byte(p.text))
		if err != nil {
			continue // kustomize refuses it
		}
		for i := range file.Documents {
			_, gvk, err := manifest.ParseObject(file.Documents[i].JSON)
			if err == nil && gvk.Version != c.goal.Version && c.converter.Has(c.goal, gvk) {
				problems = append(problems, fmt.Errorf("%s: a patch at %s in a text: move it to a file that kustomization.yaml names, or change it by hand", p.at, gvk.Version))
			}
		}
	}
	return problems
}

// hasDirectives reports whether an object has directives of a strategic merge patch.
func hasDirectives(object []byte) bool {
	return slices.ContainsFunc([]string{`"$patch"`, `"$retainKeys"`, `"$setElementOrder/`, `"$deleteFromPrimitiveList/`}, func(directive string) bool {
		return bytes.Contains(object, []byte(directive))
	})
}

// maxChanges limits what a line lists.
const maxChanges = 12

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
			fmt.Fprintf(&out, "%s: %s%s\n", line, finding.Few(changes, maxChanges), lostComments(result.LostComments[i]))
		}
	}
	c.bar.Clear()
	c.writeFailed = cmp.Or(c.writeFailed, c.p.Print(out.String()))
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
	return what + finding.Few(texts, maxChanges)
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
	text := fmt.Sprintf("%s %s in %s of %d", verb, voice.Count(c.objects, "object"), voice.Count(c.changed, "file"), files)
	add := func(n int, what string) {
		if n > 0 {
			text += fmt.Sprintf("; %d %s", n, what)
		}
	}
	add(c.none, "with nothing to convert")
	add(c.refused, "refused, see above")
	add(c.skipped, "not readable, skipped")
	add(files-done, "left")
	return text
}

// noteNone says that no file has an object of a kind that is converted, and what there is instead:
// most often the folder or the rules are not those that were meant.
func (c *rewriting) noteNone(ctx context.Context, files []target) {
	found, objects := map[schema.GroupKind]int{}, 0
	for _, t := range files {
		text, _, err := t.read()
		if err != nil || ctx.Err() != nil {
			continue // which has been reported
		}
		file, err := parseForEdit(t.name, text)
		if err != nil {
			continue // such as a template
		}
		for i := range file.Documents {
			_, items, _ := c.converter.Document(ctx, file.Documents[i].JSON, c.goal) // there is nothing to convert
			for _, item := range items {
				found[item.Type.GroupKind()]++
				objects++
			}
		}
	}
	// Kinds of the same name in another group come first: perhaps they are meant.
	order := func(kind schema.GroupKind) int {
		return found[kind] + len(c.converter.Registry.Namesakes(kind))*objects
	}
	kinds := slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupKind) int {
		return cmp.Or(order(b)-order(a), strings.Compare(a.String(), b.String()))
	})
	seen := make([]string, len(kinds))
	for i, kind := range kinds {
		seen[i] = fmt.Sprintf("%d %s", found[kind], kind)
	}
	there := voice.Count(objects, "object")
	if objects > 0 {
		there += " (" + finding.Few(seen, maxChanges) + ")"
	}
	c.say("no object of a converted kind (%s) in %s with %s: name the folder of its manifests, or give rules of other kinds with --rules and --crds",
		offline.Few(c.wanted), voice.Count(len(files), "file"), there)
}
