package hostile_test

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/crdconvert/webhookd/test/hostile"
)

// maxOutput is more than webhookd says of any file, in bytes.
const maxOutput = 16 << 20

// TestFiles gives webhookd the files of A10. It ends in good time with the code of the case, says
// what is wrong in words that steer no terminal, and does not panic.
func TestFiles(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for _, c := range hostile.FileCases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range c.Files {
				write(t, filepath.Join(dir, name), text)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, path, c.Args...) //nolint:gosec // just built
			cmd.Dir, cmd.Env = dir, append([]string{}, c.Env...)
			var output bytes.Buffer
			cmd.Stdout, cmd.Stderr = &output, &output
			began := time.Now()
			code := 0
			if err := cmd.Run(); err != nil {
				var ended *exec.ExitError
				if !errors.As(err, &ended) {
					t.Fatal(err)
				}
				code = ended.ExitCode()
			}
			said := output.String()
			t.Logf("%s, cpu %s, %d bytes", time.Since(began), cmd.ProcessState.UserTime(), len(said))
			if code != c.Code || !strings.Contains(said, c.Says) {
				t.Errorf("code %d, want %d; want %q in:\n%.2000s", code, c.Code, c.Says, said)
			}
			for _, never := range []string{"panic: ", "goroutine ", "fatal error: ", hostile.Canary} {
				if strings.Contains(said, never) {
					t.Errorf("%q in:\n%.4000s", never, said)
				}
			}
			if at := strings.IndexFunc(said, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); at >= 0 {
				t.Errorf("control characters: %.200q", said[at:])
			}
			if len(said) > maxOutput {
				t.Errorf("%d bytes of output", len(said))
			}
		})
	}
}
