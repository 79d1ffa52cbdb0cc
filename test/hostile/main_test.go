package hostile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// TestMain removes the binary that the tests have built.
func TestMain(m *testing.M) {
	code := m.Run()
	if err := os.RemoveAll(buildDir()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code) //nolint:forbidigo // as the testing package asks
}

var built = sync.OnceValues(build) //nolint:gochecknoglobals // once a process; it never changes

// binary returns the path of webhookd, built from this tree.
func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// buildDir is of this process alone.
func buildDir() string {
	return filepath.Join(os.TempDir(), "webhookd-hostile-"+strconv.Itoa(os.Getpid()))
}

func build() (string, error) {
	path := filepath.Join(buildDir(), "webhookd")
	cmd := exec.Command("go", "build", "-o", path, "./examples/custom-server") //nolint:noctx,gosec // for all tests, a path of its own
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build webhookd: %w\n%s", err, out)
	}
	return path, nil
}
