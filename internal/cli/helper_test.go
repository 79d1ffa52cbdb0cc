package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/internal/serve/ruleset"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// A lineReader passes on a stream, and reports when one write contains a text.
type lineReader struct {
	out   io.Writer
	text  []byte
	found chan struct{}
	seen  bool
}

func newLineReader(out io.Writer, text string) *lineReader {
	return &lineReader{out: out, text: []byte(text), found: make(chan struct{})}
}

// Write is called by one goroutine.
func (r *lineReader) Write(p []byte) (int, error) {
	if !r.seen && bytes.Contains(p, r.text) {
		r.seen = true
		close(r.found)
	}
	return r.out.Write(p)
}

// ExampleKinds are the kinds and functions of examples/custom-server.
func exampleKinds() ruleset.Compiled {
	return ruleset.Compiled{Kinds: exampletest.Kinds(), Functions: exampletest.Functions()}
}

// sampleReview is a review of one of them.
const sampleReview = "../../testdata/conversionreviews/crontab-v1beta1-to-v1.request.json"

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
