package controllerruntime_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The test follows docs/how-to/come-from-kubebuilder.md like a reader with the project of the
// tutorial: it writes the files and runs the commands.
func TestHowToIsTrue(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page := read(t, filepath.Join(root, "docs", "how-to", "come-from-kubebuilder.md"))
	project := newProject(t, root)
	commands := 0
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		kind, text := m[1], m[2]
		if kind == "sh" {
			commands++
			cmd := exec.CommandContext(t.Context(), "bash", "-euc", text) //nolint:gosec // of our page
			cmd.Dir = project
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s\n%s", err, text, out)
			}
			continue
		}
		first, _, _ := strings.Cut(text, "\n")
		write(t, filepath.Join(project, strings.TrimLeft(first, "/# ")), text)
	}
	if commands < 5 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
}

// newProject returns the folder of a project with the tutorial's kind, next to one of webhookd.
func newProject(t *testing.T, root string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(root, filepath.Join(folder, "webhookd")); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(folder, "project")
	for _, version := range []string{"v1", "v2"} {
		files, err := filepath.Glob("internal/cronjob/" + version + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of %s: %v", version, err)
		}
		for _, file := range files {
			const here = "github.com/crdconvert/webhookd/contrib/controllerruntime/internal/cronjob/"
			write(t, filepath.Join(project, "api", version, filepath.Base(file)), strings.ReplaceAll(read(t, file), here, "example.com/project/api/"))
		}
		write(t, filepath.Join(project, "api", version, "groupversion_info.go"), `package `+version+`

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

var (
	SchemeBuilder = &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "batch.tutorial.example.com", Version: "`+version+`"}}
	AddToScheme   = SchemeBuilder.AddToScheme
)

func init() { SchemeBuilder.Register(&CronJob{}) }
`)
	}
	write(t, filepath.Join(project, "config", "crd", "bases", "batch.tutorial.example.com_cronjobs.yaml"), read(t, "internal/cronjob/crd.yaml"))
	ours := regexp.MustCompile(`(?m)^(module|replace|\tgithub\.com/crdconvert/).*\n`)
	write(t, filepath.Join(project, "go.mod"), "module example.com/project\n"+ours.ReplaceAllString(read(t, "go.mod"), ""))
	write(t, filepath.Join(project, "go.sum"), read(t, "go.sum"))
	return project
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
