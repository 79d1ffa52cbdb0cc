package gateway_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/conversion/conversiontest"
	"github.com/crdconvert/webhookd/examples/gateway"
)

func TestLawsOfUnstructured(t *testing.T) {
	t.Parallel()
	crd, err := os.ReadFile("crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kind, err := conversion.Lossless(gateway.Unstructured(), crd)
	if err != nil {
		t.Fatal(err)
	}
	conversiontest.Laws(t, kind, crd, nil)
}

// The commands at the top of the how-to work in a clone.
func TestHowToBeginsWithWhatWorks(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile("(?s)```sh\n(.*?)```").FindStringSubmatch(page(t))
	if commands == nil {
		t.Fatal("the page has no commands")
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-euc", commands[1]) //nolint:gosec // of our page
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/how-to/write-a-go-converter.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The how-to shows the files of this folder and of the custom server as they are, or stretches of
// them, each in a block of its own.
func TestHowToShowsThisCode(t *testing.T) {
	t.Parallel()
	var code string
	for _, file := range []string{
		"gateway.go", "../custom-server/database/database.go", "../custom-server/main.go",
		"../custom-server/window/window.go", "../custom-server/gokinds/functions.go", "../maintenance-window/rules.yaml",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	blocks := regexp.MustCompile("(?s)```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(page(t), -1)
	if len(blocks) < 7 {
		t.Errorf("%d blocks of code, want at least 7", len(blocks))
	}
	for i, block := range blocks {
		if !strings.Contains(code, block[1]) {
			t.Errorf("block %d is not what the files say:\n%s", i+1, block[1])
		}
	}
}
