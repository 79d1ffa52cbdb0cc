package cli

import (
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// check reports a pipe in a folder, and passes.
func TestCheckPassesAPipeBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.yaml"), rulesettest.Conversion("Widget", "width"))
	writeFile(t, filepath.Join(dir, "crd.yaml"), rulesettest.CRD("Widget"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := Run(t.Context(), "", exampleKinds(), []string{"webhookd", "check", dir}, nil, strings.NewReader(""), &stdout, &stderr); code != voice.ExitOK {
		t.Errorf("code %d: %s", code, stderr.String())
	}
	want := dir + "/pipe.yaml: note: skipped: it is not a regular file (skipped)\n  hint: put a file there, or take it out of the folder\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Error(diff)
	}
}

// A server that is stopped before it serves says so, and succeeds.
func TestServeEndsWhileItLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.yaml"), rulesettest.Conversion("Widget", "width"))
	writeFile(t, filepath.Join(dir, "crd.yaml"), rulesettest.CRD("Widget"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	args := []string{"serve", "--self-signed", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--rules", dir, "--crds", dir}
	if code := Run(ctx, "", exampleKinds(), append([]string{"webhookd"}, args...), nil, strings.NewReader(""), &stdout, &stderr); code != voice.ExitOK {
		t.Errorf("code %d", code)
	}
	if text := stderr.String(); !strings.Contains(text, `"msg":"stopped"`) || strings.Contains(text, `"msg":"serving"`) {
		t.Error(text)
	}
}
