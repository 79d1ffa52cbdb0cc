package serve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/test/helpers/rulesettest"
)

// A pipe and a device in followed folders are logged in one line. The rules next to them are served
// and followed.
func TestNonRegularFilesAreSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds"), WaitForRules: true}
	for name, text := range map[string]string{"rules/w.yaml": rulesettest.Conversion("Widget", "width"), "crds/w.yaml": rulesettest.CRD("Widget"), "crds/g.yaml": rulesettest.CRD("Gadget")} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	if err := syscall.Mkfifo(filepath.Join(c.Rules, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.DevNull, filepath.Join(c.CRDs, "device.yaml")); err != nil {
		t.Fatal(err)
	}
	var tally ruleTally
	lines := logged(t, zapcore.DebugLevel, func(logger *zap.Logger) {
		w, err := openRules(t.Context(), c, exampleKinds(), logger, &tally, nil)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(c.Rules, "g.yaml"), rulesettest.Conversion("Gadget", "width"))
		for range 2 {
			w.look(t.Context())
		}
		if err := w.ready(); err != nil {
			t.Error(err)
		}
	})
	want := []string{"warn: files in followed folders are skipped, put files there or take them out of the folder", rulesLoaded}
	if diff := cmp.Diff(want, told(lines)); diff != "" {
		t.Fatal(diff)
	}
	files := []any{
		"note: " + filepath.Join(c.CRDs, "device.yaml") + ": skipped: it is not a regular file; put a file there, or take it out of the folder",
		"note: " + filepath.Join(c.Rules, "pipe.yaml") + ": skipped: it is not a regular file; put a file there, or take it out of the folder",
	}
	for i := range files {
		at := strings.TrimPrefix(files[i].(string), "note: ")
		files[i] = strings.Replace(at, ": skipped", ": note: skipped", 1)
	}
	if diff := cmp.Diff(files, lines[0]["files"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2}, tally.kinds); diff != "" {
		t.Errorf("kinds: %s", diff)
	}
}

// A watch does not wait for a file system that hangs, or for a load that ignores its context.
func TestAWatchDoesNotWaitForWhatGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		goesOn := make(chan struct{})
		defer close(goesOn)
		time.AfterFunc(time.Second, cancel)
		if _, err := leaving(ctx, func() (int, error) { <-goesOn; return 1, nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
