package faults_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/process"
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

//nolint:gochecknoglobals // the flags of these tests
var (
	full = flag.Bool("full", false, "the numbers of a night, and what depends on the machine's speed")
	soak = flag.Duration("soak", 0, "how long the soak goes on, in place of its number of reviews")
)

// scaled returns the number of a pull request, or that of -full.
func scaled[N int | int64 | time.Duration](pr, night N) N {
	if *full {
		return night
	}
	return pr
}

// scaledList is scaled for lists.
func scaledList[E any](pr, night []E) []E {
	if *full {
		return night
	}
	return pr
}

const (
	root    = "../../.."
	hostile = "webhookd-hostile"
	echo    = "bare-echo"
)

// polls are how often files are read, by the file that says so.
func polls() map[string]string {
	return map[string]string{
		"internal/serve/rulewatch.go":   "const rulesPoll = 5 * time.Second",
		"internal/tlsreload/options.go": "const DefaultPollInterval = 5 * time.Second",
	}
}

// TestMain builds what is tested into a folder of the PATH, silences the API server's log, which
// reports every slow or failed call, and tidies up.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	dir, err := os.MkdirTemp("", "faults")
	if err == nil {
		err = errors.Join(build(context.Background(), dir), os.Setenv("PATH", dir+":"+os.Getenv("PATH"))) //nolint:forbidigo // TestMain has no test
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // as m.Run does
	}
	m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// build makes webhookd as it is, and one with converters that misbehave which also looks at its
// files more often.
func build(ctx context.Context, dir string) error {
	hasty := map[string]string{"examples/custom-server/gokinds/gokinds.go": "testdata/hostile/gokinds.go"}
	for path, poll := range polls() {
		source, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		text := strings.Replace(string(source), poll, strings.Replace(poll, "5 * time.Second", "20 * time.Millisecond", 1), 1)
		if text == string(source) {
			return fmt.Errorf("%s does not say %q", path, poll)
		}
		hasty[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(hasty[path], []byte(text), 0o600); err != nil {
			return err
		}
	}
	echoServer := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, echo), "./testdata/echo") //nolint:gosec // the test's own
	return errors.Join(
		echoServer.Run(),
		process.Build(ctx, root, filepath.Join(dir, "webhookd"), nil),
		process.Build(ctx, root, filepath.Join(dir, hostile), hasty),
	)
}

// binary returns the path of what TestMain has built.
func binary(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
