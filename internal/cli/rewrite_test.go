package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/cli/voice"
)

const (
	oldCronTab = "apiVersion: example.com/v1beta1 # c\nkind: CronTab\nmetadata: {name: a}\n# where\nhostPort: 'a:1'\n"
	newCronTab = "apiVersion: example.com/v1 # c\nkind: CronTab\nmetadata: {name: a}\n# where\nhost: 'a'\nport: \"1\"\n"
)

// cronTabs writes so many files, and returns their names.
func cronTabs(t *testing.T, n int) (folder string, names []string) {
	t.Helper()
	folder = t.TempDir()
	for i := range n {
		names = append(names, filepath.Join(folder, fmt.Sprintf("%03d.yaml", i)))
		writeFile(t, names[i], oldCronTab)
	}
	return folder, names
}

// checkCronTabs fails unless each file is either old or new, and returns how many are new.
func checkCronTabs(t *testing.T, names []string) (converted int) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch string(text) {
		case newCronTab:
			converted++
		case oldCronTab:
		default:
			t.Errorf("neither the old nor the new text: %s\n%s", name, text)
		}
	}
	return converted
}

// A process that is killed leaves every file old or new, and another run converts the rest.
func TestRewriteIsSafeWhenKilled(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("webhookd")
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{1, 9} {
		folder, names := cronTabs(t, 80)
		cmd := exec.CommandContext(t.Context(), path, "rewrite", folder, "--to", "v1") //nolint:gosec // the program under test
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range after {
			lines.Scan()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it was killed
		if converted := checkCronTabs(t, names); converted < after || converted == len(names) {
			t.Errorf("%d files were converted when the process was killed after %d", converted, after)
		}
		if got := runWith(t, nil, nil, "rewrite", folder, "--to", "v1"); got.Code != voice.ExitOK {
			t.Errorf("another run fails: %+v", got)
		}
		if converted := checkCronTabs(t, names); converted != len(names) {
			t.Errorf("another run converts only %d", converted)
		}
	}
}

// A cancelled run ends between two files, and says how far it came.
func TestRewriteIsInterrupted(t *testing.T) {
	t.Parallel()
	folder, names := cronTabs(t, 20)
	ctx, cancel := context.WithCancel(t.Context())
	var stderr strings.Builder
	code := Run(ctx, "", exampleKinds(), []string{"webhookd", "rewrite", folder, "--to", "v1"}, nil, nil, cancelling{cancel}, &stderr)
	want := "webhookd: interrupted: every file is either converted or as it was, run it again for the rest: converted 1 object in 1 file of 20; 19 left\n"
	if code != voice.ExitFailed || stderr.String() != want {
		t.Errorf("code %d, stderr %q, want %q", code, stderr.String(), want)
	}
	if converted := checkCronTabs(t, names); converted != 1 {
		t.Errorf("%d files are converted, want 1", converted)
	}
}

// A cancelling writer cancels at the first write.
type cancelling struct{ cancel context.CancelFunc }

func (c cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return len(p), nil
}

// Parsing a file after a rewrite equals converting it, for kinds of other projects.
func TestRewriteEqualsConvert(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../testdata/kinds/*/rules.yaml")
	if err != nil || len(folders) < 5 {
		t.Fatal(folders, err)
	}
	for _, rules := range folders {
		kind := filepath.Dir(rules)
		flags := []string{"--rules", rules, "--crds", filepath.Join(kind, "crd.yaml")}
		for _, name := range []string{"plain.yaml", "kept.yaml"} {
			for _, version := range versionsOfCRD(t, filepath.Join(kind, "crd.yaml")) {
				if strings.Contains(read(t, filepath.Join(kind, name)), "/"+version+"\nkind: ") {
					continue // it is at this version
				}
				checkRewrite(t, filepath.Join(kind, name), version, flags)
			}
		}
	}
}

// versionsOfCRD returns the versions of a CRD.
func versionsOfCRD(t *testing.T, file string) []string {
	t.Helper()
	var crd struct {
		Spec struct{ Versions []struct{ Name string } }
	}
	if err := yaml.Unmarshal([]byte(read(t, file)), &crd); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(crd.Spec.Versions))
	for _, version := range crd.Spec.Versions {
		names = append(names, version.Name)
	}
	return names
}

func checkRewrite(t *testing.T, file, version string, flags []string) {
	t.Helper()
	const others = "# other\nother:   document # c\n--- # first\n"
	name := filepath.Join(t.TempDir(), "f.yaml")
	writeFile(t, name, others+read(t, file))
	run := func(args ...string) string {
		got := runWith(t, nil, nil, append(append(args, "--to", version), flags...)...)
		if got.Code != voice.ExitOK {
			t.Fatalf("%q to %s: %+v", args, version, got)
		}
		return got.Stdout
	}
	want := run("convert", file, "-o", "json")
	run("rewrite", name, "--keep")
	after := strings.TrimPrefix(read(t, name), others)
	if !strings.HasPrefix(read(t, name), others) {
		t.Errorf("another document has changed: %s to %s", file, version)
	}
	writeFile(t, name, after)
	var a, b any
	if err := errors.Join(yaml.Unmarshal([]byte(want), &a), yaml.Unmarshal([]byte(after), &b)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("%s to %s (-converted +in place):\n%s", file, version, diff)
	}
}
