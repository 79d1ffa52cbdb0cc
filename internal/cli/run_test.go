package cli

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cli/voice"
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

func TestErrorsAreReported(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		args    []string
		environ []string
		stdin   string
		want    result
	}{
		{"short for a command", []string{"conv"}, nil, "", result{2, "", "webhookd: \"conv\": no such command\nhint: did you mean webhookd convert?\n"}},
		{"no such command", []string{"fly"}, nil, "", result{2, "", "webhookd: \"fly\": no such command\nhint: webhookd --help lists the commands\n"}},
		{"misspelt flag", []string{"serve", "--tls-dri", "x"}, nil, "", result{2, "", "webhookd: --tls-dri: no such flag\nhint: did you mean --tls-dir?\n"}},
		{"no such flag", []string{"version", "--fast"}, nil, "", result{2, "", "webhookd: --fast: no such flag\nhint: webhookd version --help lists the flags\n"}},
		{"flag without a value", []string{"serve", "--listen"}, nil, "", result{2, "", "webhookd: --listen: no value, write one after it\nhint: webhookd serve --help lists the flags\n"}},
		{"argument", []string{"serve", "x.yaml"}, nil, "", result{2, "", "webhookd: \"x.yaml\": serve takes no arguments, only flags\nhint: name files with --rules and --crds\n"}},
		{"several files for one", []string{"crd", "wire", "a.yaml", "b.yaml"}, nil, "", result{2, "", "webhookd: \"b.yaml\": several files, name one\n"}},
		{"argument that is none", []string{"version", "x"}, nil, "", result{2, "", "webhookd: \"x\": version takes no arguments, only flags\nhint: webhookd version --help lists the flags\n"}},
		{"no number", []string{"fuzz", "--objects", "-1"}, nil, "", result{2, "", "webhookd: --objects \"-1\": not a whole number, write digits only\n"}},
		{"no duration", []string{"fuzz", "--for", "1"}, nil, "", result{2, "", "webhookd: --for \"1\": not a duration, write a number with a unit, such as 30s or 2m\n"}},
		{"no boolean", []string{"convert", "--diff=maybe"}, nil, "", result{2, "", "webhookd: --diff \"maybe\": not a boolean, write true or false\n"}},
		{"no certificate", []string{"serve"}, nil, "", result{2, "", "webhookd: tls-dir: no certificate to serve with: set it to a folder with tls.crt and tls.key (--tls-dir DIR), or for local use self-signed (--self-signed)\n"}},
		{"all problems of the configuration", []string{"serve", "--drain-delay=1h", "--self-signed"}, []string{"WEBHOOKD_LOG_LEVEL=loud"}, "", result{2, "", "" +
			"webhookd: log-level (env WEBHOOKD_LOG_LEVEL): not one of the choices: write debug, info, warn or error\n" +
			"webhookd: drain-delay (flag --drain-delay): too large: write at most 5m\n"}},
		{"no such configuration file", []string{"config", "--config", "nowhere.yaml"}, nil, "", result{2, "", "webhookd: config (flag --config): nowhere.yaml: no such file or directory: write the file or leave config out\n"}},
		{"unknown variable", []string{"config", "-o", "xml"}, []string{"WEBHOOKD_LISTN=:1"}, "", result{2, "", "" +
			"webhookd: unknown environment variable WEBHOOKD_LISTN is ignored: did you mean WEBHOOKD_LISTEN?\n" +
			"webhookd: --output \"xml\": no such format, write text or yaml\n"}},
		{"version in an unknown format", []string{"version", "-o", "xml"}, nil, "", result{2, "", "webhookd: --output \"xml\": no such format, write text or json\n"}},
		{"convert to no version", []string{"convert", "-f", "-", "--to", "V 1", "-o", "xml"}, nil, "", result{2, "", "" +
			"webhookd: --to \"V 1\": not a version: write VERSION or GROUP/VERSION\n" +
			"webhookd: --output \"xml\": no such format, write yaml or json\n"}},
		{"no path", []string{"check", "x.yaml", "--crds", ""}, nil, "", result{2, "", "webhookd: x.yaml: cannot read rules: no such file or directory, give their file or folder\nwebhookd: \"\": cannot read CRDs: no such file or directory, give their file or folder with --crds\n"}},
		{"stdin for a review and rules", []string{"review", "--rules", "-", "--crds", "x"}, nil, "", result{2, "", "webhookd: stdin is wanted for several things, name files for all but one: -\n"}},
		{"convert nothing", []string{"convert", "-f", "-", "--to", "v1"}, nil, "# nothing\n", result{1, "", "webhookd: stdin: nothing to convert: the files hold no objects\n"}},
		{"convert what is not there", []string{"convert", "-f", "nowhere.yaml", "--to", "v1"}, nil, "", result{2, "", "webhookd: nowhere.yaml: cannot read objects: no such file or directory, give their file or folder with --filename\n"}},
		{"a folder that cannot be", []string{"serve", "--tls-dir", "nowhere"}, nil, "", result{1, "", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, tt.environ, strings.NewReader(tt.stdin), tt.args...)
			if tt.want.Stderr == "" {
				if got.Stderr == "" {
					t.Error("no message")
				}
				got.Stderr = ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEveryLineToAPersonHasTheVoice(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"x"}, {"serve", "--x"}, {"serve", "--tls-dir", "nowhere"}, {"convert", "--to", "/"}} {
		got := runWith(t, nil, strings.NewReader(""), args...)
		for line := range strings.Lines(got.Stderr) {
			text, ok := strings.CutPrefix(line, "webhookd: ")
			if !ok {
				text, ok = strings.CutPrefix(line, "hint: ")
			}
			if !ok || strings.HasSuffix(text, ".\n") || strings.ToLower(text[:1]) != text[:1] {
				t.Errorf("%q says %q", args, line)
			}
		}
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
		{"convert", "convert -f - --to v1", "stdin: cannot read objects: is a directory, give their file or folder with --filename"},
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
		{"kubectl_complete-webhookd crd st", 0, "status\tShow what CRDs point at"},
	} {
		var out bytes.Buffer
		code := Run(t.Context(), "", exampleKinds(), strings.Fields(tt.args), nil, strings.NewReader(""), &out, &out)
		if code != tt.code || !strings.Contains(out.String(), tt.want) {
			t.Errorf("%s: %d\n%s", tt.args, code, &out)
		}
	}
}
