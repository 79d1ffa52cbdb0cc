package review_test

import (
	"bytes"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/review"
)

var update = flag.Bool("update", false, "write the golden answers again")

const goldens = "../../testdata/conversionreviews"

// goldenRequests returns the bodies of all golden requests by name.
func goldenRequests(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(goldens, "*.request.json"))
	if err != nil || len(files) < 40 {
		tb.Fatalf("%d goldens, want 40 and more: %v", len(files), err)
	}
	requests := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		requests[strings.TrimSuffix(filepath.Base(file), ".request.json")] = text
	}
	return requests
}

// Every golden request gets its golden answer, byte for byte.
func TestGoldens(t *testing.T) {
	t.Parallel()
	h := review.NewHandler(builtinReviewer(t))
	for name, body := range goldenRequests(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := post(t, h, bytes.NewReader(body))
			file := filepath.Join(goldens, name+".response.json")
			if *update {
				if err := os.WriteFile(file, got.body, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got.body)); diff != "" {
				t.Errorf("answer (-golden +got):\n%s", diff)
			}
			code, status := http.StatusOK, "Success"
			switch {
			case strings.HasPrefix(name, "rejected-"):
				code = http.StatusBadRequest
			case strings.HasPrefix(name, "failed-"):
				status = "Failed"
			}
			if got.code != code {
				t.Errorf("HTTP %d, want %d", got.code, code)
			}
			if code == http.StatusOK {
				if is, err := checkAsClient(body, got.body); err != nil || is != status {
					t.Errorf("status %s, want %s: %v", is, status, err)
				}
			}
		})
	}
}

// The README lists the clause that each golden pins, and lists only existing goldens.
func TestGoldensReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(goldens, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 4 && strings.HasPrefix(cells[1], " `") && strings.TrimSpace(cells[2]) != "" {
			named[strings.Trim(cells[1], " `")]++
		}
	}
	requests := goldenRequests(t)
	for name := range requests {
		if named[name] != 1 {
			t.Errorf("README.md names %s %d times, want once", name, named[name])
		}
	}
	for name := range named {
		if _, found := requests[name]; !found {
			t.Errorf("README.md names %s, which is not there", name)
		}
	}
	answers, err := filepath.Glob(filepath.Join(goldens, "*.response.json"))
	if err != nil || len(answers) != len(requests) {
		t.Errorf("%d answers to %d requests: %v", len(answers), len(requests), err)
	}
}
