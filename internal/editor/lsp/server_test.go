package lsp_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf16"

	"github.com/crdconvert/webhookd/internal/editor/lsp"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A client talks to a server as an editor does.
type client struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	next int
}

func start(t *testing.T, crds ...string) *client {
	t.Helper()
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	c := &client{t: t, in: in, out: bufio.NewReader(out), done: make(chan error, 1)}
	go func() {
		err := lsp.Serve(t.Context(), fromClient, toClient, lsp.Options{CRDs: crds, Load: ruleset.WithoutPanics(ruleset.Compiled{}.Load)})
		_ = toClient.Close()
		_ = fromClient.Close()
		c.done <- err
	}()
	t.Cleanup(func() {
		_ = in.Close()
		_ = out.Close()
	})
	return c
}

func (c *client) write(text string) {
	c.t.Helper()
	if _, err := fmt.Fprintf(c.in, "content-length:%d\r\nContent-Type: x\r\n\r\n%s", len(text), text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(text))
}

// read returns the next message of the server as compact JSON.
func (c *client) read() string {
	c.t.Helper()
	length := 0
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if length, err = strconv.Atoi(strings.TrimPrefix(line, "Content-Length: ")); err != nil {
			c.t.Fatal(err)
		}
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(c.out, text); err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

// request returns the answer, past notifications.
func (c *client) request(method string, params any) string {
	c.t.Helper()
	c.next++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.write(string(text))
	for {
		if got := c.read(); strings.Contains(got, fmt.Sprintf(`"id":%d,`, c.next)) {
			return got
		}
	}
}

func (c *client) initialize(encodings ...string) {
	c.t.Helper()
	got := c.request("initialize", map[string]any{"capabilities": map[string]any{"general": map[string]any{"positionEncodings": encodings}}})
	if !strings.Contains(got, `"hoverProvider":true`) {
		c.t.Fatalf("initialize: %s", got)
	}
	c.notify("initialized", map[string]any{})
}

func (c *client) open(file, text string) string {
	c.t.Helper()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri(file), "version": 1, "text": text}})
	return c.read()
}

func (c *client) change(file, text string) string {
	c.t.Helper()
	c.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri(file), "version": 2}, "contentChanges": []any{map[string]any{"text": text}},
	})
	return c.read()
}

// at asks about the position right behind a piece of the text.
func (c *client) at(method, file, text, behind string) string {
	c.t.Helper()
	before, _, ok := strings.Cut(text, behind)
	if !ok {
		c.t.Fatalf("no %q in the text", behind)
	}
	return c.behind(method, file, before+behind)
}

// behind asks about the position at the end of a beginning of the text.
func (c *client) behind(method, file, before string) string {
	c.t.Helper()
	line := strings.Count(before, "\n")
	last := before[strings.LastIndex(before, "\n")+1:]
	return c.request(method, map[string]any{
		"textDocument": map[string]any{"uri": uri(file)}, "position": map[string]any{"line": line, "character": len([]rune(last))},
	})
}

func (c *client) exit() {
	c.t.Helper()
	if got := c.request("shutdown", nil); !strings.Contains(got, `"result":null`) {
		c.t.Errorf("shutdown: %s", got)
	}
	c.notify("exit", nil)
	if err := <-c.done; err != nil {
		c.t.Errorf("exit: %v", err)
	}
}

func uri(file string) string { return "file://" + file }

func want(t *testing.T, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in %s", part, got)
		}
	}
}

// project writes the CRD of an example into a folder next to that of the rules, whose path it
// returns with their text.
func project(t *testing.T) (file, text string) {
	t.Helper()
	example := filepath.Join("..", "..", "..", "examples", "labels")
	root := t.TempDir()
	for from, to := range map[string]string{"crd.yaml": "crds/crd.yaml", "rules.yaml": "rules/rules.yaml"} {
		content, err := os.ReadFile(filepath.Join(example, from))
		if err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(root, to)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file = filepath.Join(root, "rules", "rules.yaml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, string(content)
}

func TestAnEditingSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, text := project(t)
		c := start(t)
		c.initialize("utf-16")
		want(t, c.open(file, text), `"diagnostics":[]`, `"version":1`)

		want(t, c.at("textDocument/hover", file, text, "hub: .spec.te"), "`.spec.team` is a string in v1", "v1 → v1alpha1: mapped", "rule 1",
			`v1alpha1 → v1: from`)
		want(t, c.at("textDocument/hover", file, text, `spoke: .metadata.labels["org`), "is a string in v1alpha1")
		want(t, c.at("textDocument/hover", file, text, "kind: Conv"), `"result":null`)

		broken := text + "\n    - spoke: .spec.w\n      hub: {a: .spec.co\n\t"
		want(t, c.change(file, broken), `"severity":1`, `"code":"not-yaml"`)
		want(t, c.at("textDocument/completion", file, broken, "- spoke: .spec.w"), `"newText":".spec.wikiPage"`, "in v1alpha1, dropped")
		want(t, c.at("textDocument/completion", file, broken, "hub: {a: .spec.co"), `"newText":".spec.contact.email"`, "in v1")

		misspelt := strings.Replace(text, "hub: .spec.team", "hub: .spec.taem", 1)
		want(t, c.change(file, misspelt), `"code":"no-such-field"`, "did you mean")
		want(t, c.change(file, strings.ReplaceAll(misspelt, "\n", "\r\n")), `"code":"no-such-field"`)

		if err := os.RemoveAll(filepath.Dir(filepath.Dir(file))); err != nil {
			t.Fatal(err)
		}
		want(t, c.change(file, text), `"code":"no-such-crd"`)
		c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri(file)}})
		want(t, c.read(), `"diagnostics":[]`)
		c.exit()
	})
}

// TestPositionsCountAsNegotiated has characters of two and four bytes before a finding.
func TestPositionsCountAsNegotiated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const before = `  {toHub: "self + 'é😀'", toSpoke: self, spoke: .spec.title, hub: .spec`
		for encoding, column := range map[string]int{"utf-16": len(utf16.Encode([]rune(before))), "utf-8": len(before)} {
			file, _ := project(t)
			c := start(t)
			c.initialize(encoding)
			got := c.open(file, "apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nmetadata: {name: projects.org.example.com}\n"+
				"spec:\n  hub: v1\n  versions:\n  - {name: v1alpha1, unmapped: Preserve, rules: [\n"+before+".nope}]}\n")
			want(t, got, fmt.Sprintf(`"start":{"line":7,"character":%d}`, column))
			c.exit()
		}
	})
}

func TestWrongMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t)
		want(t, c.request("textDocument/hover", nil), "-32002")
		c.initialize()
		c.write("{")
		want(t, c.read(), "-32700", `"id":null`)
		c.notify("$/cancelRequest", map[string]any{"id": 99})
		c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///none"}})
		want(t, c.request("textDocument/rename", nil), "-32601")
		want(t, c.request("textDocument/hover", []int{1}), "-32602")
		want(t, c.request("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": "untitled:1"}}), `"result":null`)
		want(t, c.request("textDocument/completion", map[string]any{}), `"isIncomplete":true`)
		want(t, c.open("/none/x.yaml", "kind: Secret\n"), `"diagnostics":[]`)
		want(t, c.request("shutdown", nil), `"result":null`)
		want(t, c.request("textDocument/hover", nil), "-32600")
		c.notify("exit", nil)
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
}

func TestExitWithoutShutdownIsAnError(t *testing.T) {
	t.Parallel()
	c := start(t)
	c.initialize()
	c.notify("exit", nil)
	if err := <-c.done; !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("got %v", err)
	}
	c = start(t)
	_ = c.in.Close()
	if err := <-c.done; !errors.Is(err, lsp.ErrNoShutdown) {
		t.Errorf("got %v", err)
	}
}

// TestHalfWrittenDocuments asks at every position of a text and of its beginnings.
func TestHalfWrittenDocuments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, text := project(t)
		c := start(t, filepath.Join(filepath.Dir(filepath.Dir(file)), "crds"))
		c.initialize("utf-8")
		c.open(file, text)
		for cut := 0; cut < len(text); cut += 211 {
			c.change(file, text[:cut])
			for line := range strings.Count(text[:cut], "\n") + 2 {
				for _, method := range []string{"textDocument/hover", "textDocument/completion"} {
					want(t, c.request(method, map[string]any{
						"textDocument": map[string]any{"uri": uri(file)}, "position": map[string]any{"line": line, "character": line},
					}), `"result"`)
				}
			}
		}
		c.exit()
	})
}

// TestCRDsOfTheClient names CRDs in the initialization options, one of which cannot be read.
func TestCRDsOfTheClient(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, text := project(t)
		moved := filepath.Join(t.TempDir(), "crd.yaml")
		if err := os.Rename(filepath.Join(filepath.Dir(filepath.Dir(file)), "crds", "crd.yaml"), moved); err != nil {
			t.Fatal(err)
		}
		c := start(t)
		c.request("initialize", map[string]any{"initializationOptions": map[string]any{"crds": []string{moved, "/none.yaml"}}})
		got := c.open(file, text)
		want(t, got, "cannot read CRDs", "/none.yaml")
		if strings.Contains(got, "no-such-crd") {
			t.Errorf("the CRD is not read: %s", got)
		}
		c.exit()
	})
}

// copyOf copies a folder of the examples, and returns it.
func copyOf(t *testing.T, example string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("..", "..", "..", "examples", example))); err != nil {
		t.Fatal(err)
	}
	return folder
}

func read(t *testing.T, path ...string) (file, text string) {
	t.Helper()
	file = filepath.Join(path...)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return file, string(content)
}

func TestPathsInARuleSetComeFromThePlacesThatUseIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, text := read(t, copyOf(t, "recursive"), "rules.yaml")
		c := start(t)
		c.initialize("utf-16")
		want(t, c.open(file, text), `"diagnostics":[]`)
		want(t, c.at("textDocument/hover", file, text, "{spoke: .ke"), "`.spec.filter.key` is a string in v1alpha1 of logfilters.logs.example.com",
			"v1alpha1 → v1: mapped to `.spec.include.field`", "`.spec.exclude.key` is")
		broken := strings.Replace(text, "    - {spoke: .key, hub: .field}", "    - {spoke: .ke", 1)
		want(t, c.change(file, broken), `"code":"not-yaml"`)
		want(t, c.at("textDocument/completion", file, broken, "- {spoke: .ke"), `"newText":".key"`, "string in v1alpha1")
		block := strings.Replace(text, "    - {spoke: .key, hub: .field}", "    - spoke: .key\n      hub: .f", 1)
		c.change(file, block)
		want(t, c.at("textDocument/completion", file, block, "      hub: .f"), `"newText":".field"`, "string in v1")
		c.exit()
	})
}

func TestSharedRuleSetsAreReadWithTheirUsers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder := copyOf(t, "shared")
		c := start(t)
		c.initialize("utf-16")
		file, text := read(t, folder, "shared.yaml")
		want(t, c.open(file, text), `"diagnostics":[]`)
		want(t, c.at("textDocument/hover", file, text, "hub: .gro"), "is a string in", "of backups", "of restores")
		text = strings.Replace(text, "use: Ref", "use: ", 1)
		c.change(file, text)
		want(t, c.at("textDocument/completion", file, text, "use: "), `"newText":"Ref"`, "rule set of shared.yaml")
		file, text = read(t, folder, "backups", "rules.yaml")
		want(t, c.open(file, text), `"diagnostics":[]`)
		c.exit()
	})
}

func TestWordsOfTheFormatComplete(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file, text := read(t, copyOf(t, "enum"), "rules.yaml")
		c := start(t)
		c.initialize("utf-16")
		want(t, c.open(file, text), `"diagnostics":[]`)
		for _, test := range []struct {
			name, old, with string
			want            []string
			not             string
		}{
			{"a key of a rule", "      values: {page: pager}", "      va", []string{`"newText":"values: "`, "this version's value: the hub's value"}, `"label":"spoke"`},
			{"a key of a rule in braces", "    - spoke: .spec.rollback", "    - {spoke: .spec.rollback, co", []string{`"newText":"codec: "`}, `"label":"spoke"`},
			{"the first key of a rule", "    - spoke: .spec.rollback", "    - ", []string{`"label":"spoke"`, `"newText":"drop: "`}, `"label":"hub"`},
			{"a key of a version", "  - name: v1alpha1", "  - name: v1alpha1\n    un", []string{`"newText":"unmapped: "`}, `"label":"rules"`},
			{"a key of a Conversion", "metadata:", "met", []string{`"label":"metadata"`}, `"label":"codec"`},
			{"a key of spec", "  hub: v1", "  ", []string{`"label":"ruleSets"`, `"label":"hub"`}, `"label":"codec"`},
			{"a codec", "      values: {page: pager}", "      codec: ", []string{`"label":"DurationSeconds"`, `"label":"Base64"`}, `"label":"hub"`},
			{"a version", "  - name: v1alpha1", "  - name: ", []string{`"newText":"v1alpha1"`, "version of rolloutpolicies"}, `"newText":"v1"`},
			{"the hub", "  hub: v1", "  hub: ", []string{`"newText":"v1"`, `"newText":"v1alpha1"`}, `"newText":".spec`},
			{"whether empty values stay", "      values: {page: pager}", "      omitEmpty: ", []string{`"newText":"Both"`}, `"label":"hub"`},
			{"a value of this version", "values: {All: Apply, None", "values: {All: Apply, N", []string{`"newText":"None"`, `"label":"Manual"`, "value of .spec.policy.applyMode in v1alpha1"}, `"label":"Preview"`},
			{"a value of the hub", "values: {All: Apply, None: Preview", "values: {All: Apply, None: Pre", []string{`"newText":"Preview"`, `"newText":"\"Off\""`}, `"label":"Manual"`},
			{"a value of the hub below", "      values: {0: Low, 1: Normal, 2: High}", "      values:\n        0: L", []string{`"newText":"Low"`}, `"label":"hub"`},
			{"hubValues are the reverse", `hubValues: {"Off": None`, `hubValues: {"Off": N`, []string{`"newText":"None"`, `"newText":"Manual"`}, `"label":"Preview"`},
			{"true and false", "values: {true: Paused", "values: {t", []string{`"newText":"true: "`, `"label":"false"`}, `"label":"Paused"`},
			{"nothing in a comment", "    # null is also a value.", "    # nu", []string{`"items":[]`}, `"label"`},
			{"nothing in a name of a field", "  name: rolloutpolicies", "  na: ro", []string{`"items":[]`}, `"label"`},
		} {
			edited := strings.Replace(text, test.old, test.with, 1)
			if edited == text {
				t.Fatalf("%s: no %q in the text", test.name, test.old)
			}
			c.change(file, edited)
			before, _, _ := strings.Cut(text, test.old)
			got := c.behind("textDocument/completion", file, before+test.with)
			want(t, got, test.want...)
			if strings.Contains(got, test.not) {
				t.Errorf("%s: %s in %s", test.name, test.not, got)
			}
		}
		c.exit()
	})
}
