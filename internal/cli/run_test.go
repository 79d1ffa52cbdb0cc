package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// result is the outcome of a run of the program.
type result struct {
	Code           int
	Stdout, Stderr string
}

func runWith(t *testing.T, environ []string, stdin io.Reader, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(t.Context(), "", exampleKinds(), append([]string{"webhookd"}, args...), environ, stdin, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// usageCommand is a line of testdata/usage.txt.
var usageCommand = regexp.MustCompile(`(?m)^\$ (?:(\w+=\S+) )?webhookd (.*)$`)

// Every wrong command line ends with code 2, prints no result, and says what testdata/usage.txt
// has.
func TestErrorsAreReported(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	writeFile(t, ca, string(tlstest.NewCA(t, "a").PEM))
	const golden = "testdata/usage.txt"
	want := read(t, golden)
	var got strings.Builder
	for _, m := range usageCommand.FindAllStringSubmatch(want, -1) {
		args := words(m[2])
		for i, arg := range args {
			args[i] = strings.ReplaceAll(strings.Trim(arg, "'"), "$CA", ca)
		}
		run := runWith(t, slices.DeleteFunc(m[1:2], func(v string) bool { return v == "" }), strings.NewReader(""), args...)
		if run.Code != 2 || run.Stdout != "" || !regexp.MustCompile(`^(?:(?:webhookd|hint): [^\n]*[^.\n]\n)+$`).MatchString(run.Stderr) {
			t.Errorf("%s: %+v", m[2], run)
		}
		fmt.Fprintf(&got, "%s\n%s\n", m[0], run.Stderr)
	}
	if *update {
		writeFile(t, golden, got.String())
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-%s +got):\n%s", golden, diff)
	}
}

// serve ends without an error when its context does.
func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	codes := make(chan int)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader := newLineReader(&stderr, "\"msg\":\"serving\"")
	go func() {
		codes <- Run(ctx, "", exampleKinds(), []string{"webhookd", "serve", "--self-signed", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}, nil, strings.NewReader(""), io.Discard, reader)
	}()
	select {
	case <-reader.found:
	case <-time.After(patience):
		t.Fatal("does not serve")
	}
	cancel()
	wantEnd(t, codes, 0)
}

// If stdin cannot be read, all verbs name it and what they wanted to read.
func TestStdinThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, args, want string }{
		{"convert", "convert -f - --to v1", "stdin: cannot read objects: is a directory, give their file or folder"},
		{"check", "check - --crds testdata/script", "stdin: cannot read rules: is a directory, give their file or folder"},
		{"suggest", "suggest --crds -", "stdin: cannot read CRDs: is a directory, give their file or folder with --crds"},
		{"review", "review", "stdin: cannot read the review: is a directory, name the file of a ConversionReview, or pipe one into it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			stdin := iotest.ErrReader(&fs.PathError{Op: "read", Path: "/dev/stdin", Err: syscall.EISDIR})
			var stderr bytes.Buffer
			code := Run(t.Context(), "", exampleKinds(), strings.Fields("webhookd "+test.args), nil, stdin, io.Discard, &stderr)
			if code == voice.ExitOK || !strings.HasPrefix(stderr.String(), "webhookd: "+test.want+"\n") {
				t.Errorf("%d, %s", code, stderr.String())
			}
		})
	}
}

// Input without an end is refused.
func TestEndlessInput(t *testing.T) {
	t.Parallel()
	got := runWith(t, nil, strings.NewReader(""), "convert", "/dev/zero", "--strip")
	if want := "webhookd: /dev/zero: larger than 128 MiB: split it\n"; got.Code == voice.ExitOK || got.Stderr != want {
		t.Errorf("%d, %s, want %s", got.Code, got.Stderr, want)
	}
}

// --color overrides NO_COLOR, and a terminal is needed otherwise.
func TestColors(t *testing.T) {
	t.Parallel()
	args := []string{"check", "testdata/none.yaml"}
	for name, tt := range map[string]struct {
		args, environ []string
		want          string
	}{
		"no terminal":           {args, nil, "webhookd: "},
		"always":                {append(args, "--color=always"), nil, "\x1b[31mwebhookd:\x1b[0m "},
		"always beats NO_COLOR": {append(args, "--color", "always"), []string{"NO_COLOR=1"}, "\x1b[31mwebhookd:\x1b[0m "},
		"never":                 {append(args, "--color=never"), nil, "webhookd: "},
		"a choice that is none": {append(args, "--color=red"), nil, "webhookd: --color \"red\": not a choice, write auto, always or never\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, tt.environ, strings.NewReader(""), tt.args...)
			if got.Code != 2 || !strings.HasPrefix(got.Stderr, tt.want) {
				t.Errorf("exit code %d, %q, want it to begin with %q", got.Code, got.Stderr, tt.want)
			}
		})
	}
}

// kubectl runs a program by its name: kubectl-webhookd, and kubectl_complete-webhookd for the words
// that may follow.
func TestPluginOfKubectl(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args string
		code int
		want string // part of what is printed
	}{
		{"/usr/local/bin/kubectl-webhookd crd status --help", 0, "Usage:\n  kubectl webhookd crd status [FILE...]"},
		{"kubectl-webhookd.exe", 0, "\"kubectl webhookd COMMAND --help\" says more"},
		{"kubectl-webhookd crd aply", 2, "hint: did you mean kubectl webhookd crd apply?\n"},
		{"webhookd crd status --help", 0, "Usage:\n  webhookd crd status [FILE...]"},
		{"kubectl_complete-webhookd crd st", 0, "status\tShow which conversions of a cluster are broken"},
	} {
		var out bytes.Buffer
		code := Run(t.Context(), "", exampleKinds(), strings.Fields(tt.args), nil, strings.NewReader(""), &out, &out)
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %d\n%s", tt.args, code, &out)
		}
	}
}
