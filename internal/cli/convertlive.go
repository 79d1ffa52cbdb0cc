package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// convertLive converts the objects of a cluster to a version.
func (p *program) convertLive(ctx context.Context, o *convertOptions, reader *liveReader) error {
	set, registry, err := p.registry(ctx, &o.ruled)
	if err != nil {
		return err
	}
	group, version := o.target()
	kinds := slices.DeleteFunc(registry.Kinds(), func(kind *converters.Kind) bool {
		return set.CRD(kind.GroupKind) == nil || group != "" && kind.Group != group || !kind.Has(version)
	})
	if len(kinds) == 0 {
		return usage(fmt.Errorf("no kind with a CRD and rules has this version: --to %s", o.to), "give rules with --rules")
	}
	live, err := reader.kinds(ctx, set, kinds)
	if err != nil {
		return err
	}
	c := &liveConversion{p: p, o: o, offline: newOffline(p, registry)}
	c.drops = &dropReporter{set: set, converter: c.offline}
	c.group, c.version = group, version
	for i := range live {
		if live[i].version == version {
			p.note("%s is read at %s already, skipped: choose another version with --to", live[i].Name(), version)
			continue
		}
		before := c.failed
		n, err := reader.each(ctx, &live[i], func(page []liveObject) error { return c.page(ctx, &live[i], page) })
		if err != nil {
			return err
		}
		p.note("%s: %s of %s converted to %s, %d failed", live[i].Name(), count(n, "live object"), live[i].version, version, c.failed-before)
	}
	if c.failed > 0 {
		return errReported
	}
	return nil
}

// A liveConversion writes the objects of a cluster at another version.
type liveConversion struct {
	*offline

	p       *program
	o       *convertOptions
	drops   *dropReporter
	written bool
	failed  int
}

// page converts and writes the objects of a page.
func (c *liveConversion) page(ctx context.Context, kind *liveKind, page []liveObject) error {
	format := cmp.Or(c.o.output, manifest.FormatYAML)
	var before, after []manifest.File
	for _, object := range page {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := c.document(ctx, object.text)
		if err != nil { // which names the object
			c.failed++
			c.p.note("%v", err)
			continue
		}
		name := kind.GroupKind.Kind + " " + object.name
		before = append(before, manifest.File{Name: name, Format: format, Documents: [][]byte{object.text}})
		after = append(after, manifest.File{Name: name, Format: format, Documents: [][]byte{text}})
	}
	if c.o.live.showValues {
		return c.write(ctx, before, after)
	}
	var out bytes.Buffer
	for _, file := range after {
		for _, object := range file.Documents {
			fmt.Fprintf(&out, "%s: %s\n", file.Name, keptIn(object))
		}
	}
	_, err := c.p.stdout.Write(out.Bytes())
	return err
}

// write writes the objects with their values.
func (c *liveConversion) write(ctx context.Context, before, after []manifest.File) (err error) {
	if c.o.verbose {
		if err := c.p.noteKept(ctx, before, after, c.drops); err != nil {
			return err
		}
	}
	if c.o.strip {
		if after, err = c.p.strip(after, c.o.verbose); err != nil {
			return err
		}
	}
	format := cmp.Or(c.o.output, manifest.FormatYAML)
	var text []byte
	if c.o.diff {
		text, err = diffs(before, after, c.o)
		text = c.p.paintDiff(text)
	} else {
		text, err = render(after, format)
		if c.written && len(text) > 0 && format == manifest.FormatYAML {
			text = slices.Concat([]byte("---\n"), text)
		}
	}
	if err != nil {
		return err
	}
	c.written = c.written || len(text) > 0
	_, err = c.p.stdout.Write(text)
	return err
}

// keptIn says what an object keeps in annotations, without values.
func keptIn(object []byte) string {
	const most = 8
	size := 0
	var paths []string
	for name, text := range annotationsOf(object) {
		if !keep.IsOwn(name) {
			continue
		}
		size += len(name) + len(text)
		kept := keep.Describe(name, text)
		for _, value := range kept.Values {
			paths = append(paths, kept.Version+" "+value.Path)
		}
	}
	if size == 0 {
		return "nothing has to be kept"
	}
	slices.Sort(paths)
	return fmt.Sprintf("%s of annotations keep %s", count(size, "byte"), strings.TrimSpace(finding.Few(slices.Compact(paths), most)))
}
