package hostile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/process"
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
	return path, process.Build(context.Background(), "../..", path, nil) //nolint:forbidigo // for all tests
}
