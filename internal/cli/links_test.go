package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every link of a page to another file of the repository leads to one, and to a heading that it
// has.
func TestLinksAreNotBroken(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	count := 0
	for _, page := range pagesOf(t, "../..") {
		for _, m := range link.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // elsewhere
			}
			count++
			to := page
			if target != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(target))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: no such file: %s", page, m[1])
			} else if anchor != "" && strings.HasSuffix(to, ".md") && !hasHeading(read(t, to), anchor) {
				t.Errorf("%s: no such heading: %s", page, m[1])
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d links were found", count)
	}
}

// A reader can find a page, and read all of them in two hours: merge pages, or say it once.
func TestPagesAreFewAndShort(t *testing.T) {
	t.Parallel()
	pages := append(pagesOf(t, "../../docs"), pagesOf(t, "../../examples")...)
	pages = append(pages, "../../README.md", "../../deploy/helm/webhookd/README.md")
	words := 0
	for _, page := range pages {
		words += len(strings.Fields(read(t, page)))
	}
	if len(pages) > 36 || words > 30_000 {
		t.Errorf("%d pages of %d words, want at most 36 and 30,000", len(pages), words)
	}
	if lines := strings.Count(read(t, "../../README.md"), "\n"); lines > 110 {
		t.Errorf("README.md has %d lines, want at most 110", lines)
	}
}

// Every page that code, the chart or a workflow names is there.
func TestPagesThatCodeNamesExist(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\bdocs/[a-z-]+/[a-z0-9-]+\.md`)
	count := 0
	for _, file := range filesBelow(t, "../..", ".go", ".tpl", ".txt", ".yaml", ".yml", "Makefile") {
		for _, page := range named.FindAllString(read(t, file), -1) {
			count++
			if _, err := os.Stat("../../" + page); err != nil {
				t.Errorf("%s names %s, which is not there", file, page)
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d names were found", count)
	}
}

func pagesOf(t *testing.T, root string) []string {
	t.Helper()
	return filesBelow(t, root, ".md")
}

// filesBelow returns the files below a folder whose names end in one of some texts.
func filesBelow(t *testing.T, root string, ends ...string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin"):
			return fs.SkipDir
		case !d.IsDir() && slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(path, end) }):
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withoutCode removes fenced blocks and text in backquotes.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?s)\n *```.*?\n *```").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "`")
}

// hasHeading reports whether a page has the heading of an anchor. GitHub makes anchors from
// letters, digits and blanks.
func hasHeading(text, anchor string) bool {
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for line := range strings.Lines(text) {
		heading, isHeading := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if isHeading && strings.HasPrefix(line, "#") &&
			strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
