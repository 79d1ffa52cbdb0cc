package faultclasses_test

import (
	"go/version"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// leastGo is the first release without the flaws of crypto/tls and crypto/x509 that I03 is about.
const leastGo = "go1.26.8"

// I03: what is built, and what is tested here, is built with a Go that has no flaw we know of in
// TLS and certificates; and no module of the repository asks for an older one.
func TestGoIsNotOlderThanItsFixes(t *testing.T) {
	t.Parallel()
	if running, _, _ := strings.Cut(runtime.Version(), " "); version.Compare(running, leastGo) < 0 {
		t.Errorf("these tests run with %s, want %s or later", running, leastGo)
	}
	toolchain := regexp.MustCompile(`(?m)^(?:toolchain go|go )(1\.\d+\.\S+)$`)
	modules := 0
	for _, pattern := range []string{"go.mod", "*/go.mod", "*/*/go.mod", "*/*/*/go.mod"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			modules++
			found := toolchain.FindAllSubmatch(text, -1)
			if len(found) == 0 || version.Compare("go"+string(found[len(found)-1][1]), leastGo) < 0 {
				t.Errorf("%s names no toolchain, or one before %s", file, leastGo)
			}
		}
	}
	if modules < 8 {
		t.Errorf("only %d modules were found", modules)
	}
}
