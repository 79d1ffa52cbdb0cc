package webhook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/process"
)

const product = "github.com/crdconvert/webhookd"

// Build returns the path of the webhookd binary, built from this tree once a test process. TestMain
// removes it with RemoveBuilt.
func Build(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root returns the folder of webhookd's own module, where docs and examples are.
func Root(t *testing.T) string {
	t.Helper()
	dir, err := FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// FindRoot is Root without a test.
func FindRoot() (string, error) { return root() }

// NewerKey is a key of rules that the release of Older does not know.
const NewerKey = "omitEmpty"

// Older is Build for a release from before NewerKey.
func Older(t *testing.T) string {
	t.Helper()
	path, err := older()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	root  = sync.OnceValues(findRoot)                                                     //nolint:gochecknoglobals // once a process; it never changes
	built = sync.OnceValues(func() (string, error) { return BuildWith("webhookd", nil) }) //nolint:gochecknoglobals // once a process; it never changes
	older = sync.OnceValues(buildOlder)                                                   //nolint:gochecknoglobals // once a process; it never changes
)

// RemoveBuilt removes what Build has built in this process, if it has.
func RemoveBuilt() error { return os.RemoveAll(buildDir()) }

const buildDirs = "webhookd-e2e-"

// buildDir is of this process alone, so that a run keeps its binary when another one builds.
func buildDir() string { return filepath.Join(os.TempDir(), buildDirs+strconv.Itoa(os.Getpid())) }

// removeOrphans removes what processes have left behind that were ended by force.
func removeOrphans() {
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), buildDirs+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), buildDirs))
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(pid); err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			_ = os.RemoveAll(dir)
		}
	}
}

func findRoot() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", product).Output() //nolint:noctx // for all tests
	if err != nil {
		return "", fmt.Errorf("find the module %s: %w", product, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// buildOlder builds with a file in which the key has a name that no one uses.
func buildOlder() (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	const file = "internal/converters/rules/syntax/rule.go"
	text, err := os.ReadFile(filepath.Join(dir, file)) //nolint:gosec // of this tree
	if err != nil {
		return "", err
	}
	was := `name: "` + NewerKey + `"`
	if strings.Count(string(text), was) != 1 {
		return "", fmt.Errorf("%s does not have %s once", file, was)
	}
	changed := filepath.Join(buildDir(), "rule.go")
	text = []byte(strings.Replace(string(text), was, `name: "keyOfALaterRelease"`, 1))
	if err := errors.Join(os.MkdirAll(buildDir(), 0o700), os.WriteFile(changed, text, 0o600)); err != nil { //nolint:gosec // a path of its own
		return "", err
	}
	return BuildWith("older", map[string]string{file: changed})
}

// BuildWith builds webhookd under a name, as RemoveBuilt expects it, with other files in the place
// of some of its own.
func BuildWith(name string, overlay map[string]string) (string, error) {
	removeOrphans()
	dir, err := root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(buildDir(), name)
	if err := os.MkdirAll(buildDir(), 0o700); err != nil {
		return "", err
	}
	return path, process.Build(context.Background(), dir, path, overlay)
}
