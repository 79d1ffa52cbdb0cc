package controlplane_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// prompt is what a command of a transcript begins with.
const prompt = "$ kubectl "

// replay runs the commands of a transcript one after the other and holds what they print to what is
// written there. With UPDATE_TRANSCRIPTS=1 in the environment it writes that again.
func replay(t *testing.T, kubectl *plane.Client, path string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(want)) {
		args, isCommand := strings.CutPrefix(line, prompt)
		if !isCommand {
			continue
		}
		if got.Len() > 0 {
			got.WriteString("\n")
		}
		out, err := kubectl.Try(t, strings.Fields(args)...)
		got.WriteString(line + withNewline(out))
		if err != nil {
			got.WriteString("# " + err.Error() + "\n")
		}
	}
	compare(t, path, normal(got.String()))
}

// compare holds a transcript to its file.
func compare(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("UPDATE_TRANSCRIPTS") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.ToSlash(path), diff)
	}
}

// withNewline ends what is not empty with a line's end.
func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// normal replaces what is another one each time: addresses, the port, which in a cluster is 443,
// times and revisions.
func normal(text string) string {
	for _, r := range []struct{ pattern, with string }{
		{`127\.1\.2\.\d+`, "10.96.7.42"},
		{`\b(webhookd?)\.[a-z-]+\.svc\b`, "$1.webhookd.svc"}, // see site
		{`\b9443\b`, "443"},
		{`127\.0\.0\.1:\d+`, "10.0.0.1:443"},
		{`revision=\d+`, "revision=1234"},
		{`byte \d+`, "byte 1092"},
		{`body of \d+ bytes`, "body of 100700 bytes"},
		// Which of two clocks runs out first differs.
		{
			`(net/http: request canceled|context deadline exceeded)( \(Client\.Timeout exceeded while awaiting headers\))?`,
			"context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		},
		{`current time \S+ is`, "current time 2026-01-31T00:00:00Z is"},
	} {
		text = regexp.MustCompile(r.pattern).ReplaceAllString(text, r.with)
	}
	return text
}
