package gateway_test

import (
	"os"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/examples/gateway"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

func TestLawsOfUnstructured(t *testing.T) {
	t.Parallel()
	kind := gateway.Kind()
	kind.Converter = gateway.Unstructured()
	err := roundtrip.Laws(t.Context(), &kind,
		[]byte(`{"apiVersion":"example.com/v1alpha1","kind":"Gateway","spec":{"class":"nginx","weight":1.10}}`))
	if err != nil {
		t.Error(err)
	}
}

// The how-to shows the files of this folder as they are, or stretches of them, each in a block of its own.
func TestHowToShowsThisCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/how-to/write-a-go-converter.md")
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, file := range []string{
		"gateway.go", "unstructured.go", "gateway_test.go",
		"../../examples/customserver/gokinds/gokinds.go", "../../examples/customserver/database/database.go",
		"../../examples/customserver/crontab/crontab.go",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code += string(text)
	}
	// The kind of the how-to is in examples/ here and in examples/customserver/ there.
	code = strings.ReplaceAll(code, "webhookd/examples/gateway", "webhookd/examples/customserver/gateway")
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Errorf("%d blocks of Go, want at least 5", len(blocks))
	}
	for i, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.Contains(code, block) {
			t.Errorf("block %d is not what the files say:\n%s", i+1, block)
		}
	}
}
