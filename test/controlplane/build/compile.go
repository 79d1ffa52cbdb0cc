package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// version is what kube-apiserver says of itself; binaries/go.mod has it as well.
const version = "v1.37.1"

// flags make the build cheap: nothing is inlined and there is no information for debuggers, which
// saves a third of the compiler's time.
func flags() []string {
	return []string{
		"-gcflags=all=-l -dwarf=false",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + version,
	}
}

// environment for go build: the compiler collects its garbage less often, which saves a few percent
// more, and needs no C compiler.
func environment() []string { return []string{"GOWORK=off", "CGO_ENABLED=0", "GOGC=400"} }

// compile builds all tools of the module in source into dir, in one go so that what they share is
// compiled once, and returns the CPU time that it took.
func compile(ctx context.Context, source, dir string, progress io.Writer) (time.Duration, error) {
	args := slices.Concat([]string{"build", "-v", "-o", dir + "/"}, flags(), []string{"tool"})
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // flags of its own
	cmd.Dir = source
	cmd.Env = append(cmd.Environ(), environment()...)
	// An interrupted build ends its compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	w := newWatcher(dir, progress)
	cmd.Stdout, cmd.Stderr = w, w
	w.start()
	err := cmd.Run()
	w.end()
	if err != nil {
		return 0, fmt.Errorf("build the control plane: %w\n%s", err, w.tail())
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// A watcher tells how far a build is: it reads what `go build -v` prints, a package a line, and
// looks which binaries are there.
type watcher struct {
	dir      string
	progress io.Writer
	began    time.Time
	done     chan struct{}
	wg       sync.WaitGroup

	mu       sync.Mutex
	packages int
	last     []byte
}

func newWatcher(dir string, progress io.Writer) *watcher {
	return &watcher{dir: dir, progress: progress, began: time.Now(), done: make(chan struct{})}
}

// Write implements io.Writer.
func (w *watcher) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packages += bytes.Count(text, []byte("\n"))
	w.last = append(w.last, text...)
	w.last = w.last[max(0, len(w.last)-4096):]
	return len(text), nil
}

// tail returns the last lines of what was printed.
func (w *watcher) tail() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.last)
}

func (w *watcher) start() {
	fmt.Fprintf(w.progress, "building etcd, helm, kube-apiserver, kube-controller-manager and kubectl %s: 2700 packages, "+
		"about 10 minutes on two cores where none is in Go's cache\n", version)
	w.wg.Go(w.watch)
}

func (w *watcher) end() {
	close(w.done)
	w.wg.Wait()
}

func (w *watcher) watch() {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	seen := map[string]bool{}
	for spoke := w.began; ; {
		select {
		case <-w.done:
			w.look(seen)
			return
		case <-ticker.C:
			if w.look(seen) {
				spoke = time.Now()
			}
		}
		if time.Since(spoke) >= 30*time.Second {
			spoke = time.Now()
			w.mu.Lock()
			fmt.Fprintf(w.progress, "  %4.0f s: %d packages compiled\n", time.Since(w.began).Seconds(), w.packages)
			w.mu.Unlock()
		}
	}
}

// look tells of the binaries that are new.
func (w *watcher) look(seen map[string]bool) bool {
	entries, err := os.ReadDir(w.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fmt.Fprintln(w.progress, err)
	}
	news := false
	for _, entry := range entries {
		name := entry.Name()
		if seen[name] || strings.HasPrefix(name, ".") {
			continue
		}
		seen[name], news = true, true
		if name == "server" {
			name = "etcd"
		}
		fmt.Fprintf(w.progress, "  %4.0f s: %s\n", time.Since(w.began).Seconds(), name)
	}
	return news
}
