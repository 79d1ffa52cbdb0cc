package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/config"
)

// A pipe and a device in followed folders are told in one line, and the rules beside them are served and followed.
func TestWhatIsNoFileIsPassedBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := config.Config{Rules: filepath.Join(dir, "rules"), CRDs: filepath.Join(dir, "crds")}
	for name, text := range map[string]string{"rules/w.yaml": conversionOf("Widget", "width"), "crds/w.yaml": crdOf("Widget"), "crds/g.yaml": crdOf("Gadget")} {
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
		w, err := openRules(t.Context(), c, exampleKinds(), logger, &tally)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(c.Rules, "g.yaml"), conversionOf("Gadget", "width"))
		for range 2 {
			w.look(t.Context())
		}
		if err := w.ready(); err != nil {
			t.Error(err)
		}
	})
	want := []string{"warn: files in followed folders are passed by, put files there or take them out of the folder", rulesLoaded}
	if diff := cmp.Diff(want, told(lines)); diff != "" {
		t.Fatal(diff)
	}
	files := []any{
		"note: " + filepath.Join(c.CRDs, "device.yaml") + ": passed by: it is a device",
		"note: " + filepath.Join(c.Rules, "pipe.yaml") + ": passed by: it is a pipe",
	}
	for i := range files {
		at := strings.TrimPrefix(files[i].(string), "note: ")
		files[i] = strings.Replace(at, ": passed by", ": note: passed by", 1)
	}
	if diff := cmp.Diff(files, lines[0]["files"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 2}, tally.kinds); diff != "" {
		t.Errorf("kinds: %s", diff)
	}
}

// check tells of a pipe in a folder, and passes.
func TestCheckPassesAPipeBy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.yaml"), conversionOf("Widget", "width"))
	writeFile(t, filepath.Join(dir, "crd.yaml"), crdOf("Widget"))
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := run(t.Context(), exampleKinds(), []string{"check", dir}, nil, strings.NewReader(""), &stdout, &stderr); code != exitOK {
		t.Errorf("code %d: %s", code, stderr.String())
	}
	want := dir + "/pipe.yaml: note: passed by: it is a pipe\n  hint: put a file there, or take it out of the folder\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" {
		t.Error(diff)
	}
}

// A file system that hangs holds up nobody: its file is passed by until it answers, and is asked once.
func TestAFileThatDoesNotAnswerIsPassedBy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		waits, asked := newReadWaits(), 0
		answers := make(chan struct{})
		read := func(ctx context.Context) (string, error) {
			return within(ctx, waits, "f", func() (string, error) {
				asked++
				<-answers
				return "text", nil
			})
		}
		for range 2 {
			_, err := read(t.Context())
			if passed, is := errors.AsType[passedError](err); !is || !passed.stuck {
				t.Errorf("error %v", err)
			}
		}
		close(answers)
		synctest.Wait()
		if text, err := read(t.Context()); text != "text" || err != nil || asked != 2 {
			t.Errorf("%q, %v, asked %d times", text, err, asked)
		}
	})
}

// The end of a server ends the wait for a file that does not answer.
func TestAContextEndsAReadThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answers := make(chan struct{})
		defer close(answers)
		_, err := within(ctx, newReadWaits(), "f", func() (string, error) {
			<-answers
			return "", nil
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// An endingContext ends when it has been asked some times whether it has.
type endingContext struct {
	context.Context //nolint:containedctx // it is a context
	left            atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever in it the context ends, a load ends with its error, and looks at it only a few times more.
func TestAContextEndsALoad(t *testing.T) {
	t.Parallel()
	for _, shape := range loadShapes() {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			rules, crds := shape.make(100).files()
			whole := &endingContext{Context: t.Context()}
			const many = 1 << 40
			whole.left.Store(many)
			if _, err := exampleKinds().loadRules(whole, rules, crds); err != nil {
				t.Fatal(err)
			}
			looks := many - whole.left.Load()
			for _, after := range []int64{0, 1, looks / 4, looks / 2, looks * 3 / 4, looks - 1} {
				ctx := &endingContext{Context: t.Context()}
				ctx.left.Store(after)
				if _, err := exampleKinds().loadRules(ctx, rules, crds); !errors.Is(err, context.Canceled) {
					t.Errorf("ended after %d of %d looks: %v", after, looks, err)
				}
			}
		})
	}
}

// A watch does not wait for a load that does not look at its context.
func TestAWatchDoesNotWaitForALoadThatGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		goesOn := make(chan struct{})
		defer close(goesOn)
		w := &ruleWatch{load: func(context.Context, []textFile, []textFile) (ruleSet, error) {
			<-goesOn
			return ruleSet{}, nil
		}}
		time.AfterFunc(time.Second, cancel)
		if _, err := w.loaded(ctx, nil, nil); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A server that is ended before it serves says so, and that is no failure.
func TestServeEndsWhileItLoads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "w.yaml"), conversionOf("Widget", "width"))
	writeFile(t, filepath.Join(dir, "crd.yaml"), crdOf("Widget"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr strings.Builder
	args := []string{"serve", "--self-signed", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--rules", dir, "--crds", dir}
	if code := run(ctx, exampleKinds(), args, nil, strings.NewReader(""), &stdout, &stderr); code != exitOK {
		t.Errorf("code %d", code)
	}
	if text := stderr.String(); !strings.Contains(text, `"msg":"stopped"`) || strings.Contains(text, `"msg":"serving"`) {
		t.Error(text)
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
