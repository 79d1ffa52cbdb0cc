package voice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A line that is overwritten on a terminal and cut to its width, a line now and then elsewhere, and
// nothing if it is quick.
func TestProgress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		width int
		total uint64
		want  string
	}{
		"elsewhere":           {0, 10000, "webhookd: Engine.example.com: 5000 of 10000 objects, 3 edits, 10s\n"},
		"an unknown total":    {0, 0, "webhookd: Engine.example.com: 5000 objects, 3 edits, 10s\n"},
		"a terminal":          {200, 10000, "\rEngine.example.com: 10 of 10000 objects, 3 edits, 0s\x1b[K\rEngine.example.com: 2500 of 10000 objects, 3 edits, 5s\x1b[K\rEngine.example.com: 5000 of 10000 objects, 3 edits, 10s\x1b[K\r\x1b[K"},
		"a terminal, unknown": {200, 0, "\rEngine.example.com: 10 objects, 3 edits, 0s\x1b[K\rEngine.example.com: 2500 objects, 3 edits, 5s\x1b[K\rEngine.example.com: 5000 objects, 3 edits, 10s\x1b[K\r\x1b[K"},
		"a narrow terminal":   {24, 0, "\rEngine.example.com: 10…\x1b[K\rEngine.example.com: 25…\x1b[K\rEngine.example.com: 50…\x1b[K\r\x1b[K"},
		"more than the total": {0, 4000, "webhookd: Engine.example.com: 4000 of 4000 objects, 3 edits, 10s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var out strings.Builder
				p := NewProgress(&out, "Engine.example.com")
				if p.width = tt.width; p.width > 0 {
					p.last = time.Time{}
				}
				p.Show(10, tt.total, "object", "3 edits")
				p.Show(11, tt.total, "object", "3 edits") // too early
				for done := uint64(2500); done <= 5000; done += 2500 {
					<-time.After(5 * time.Second)
					p.Show(done, tt.total, "object", "3 edits")
				}
				p.Clear()
				if diff := cmp.Diff(tt.want, out.String()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A file is not a terminal, and neither is /dev/null.
func TestTerminals(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	for _, f := range []*os.File{file, null} {
		if IsTerminal(f) {
			t.Errorf("%s is a terminal", f.Name())
		}
	}
}
