package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goldens = "../../testdata/conversionreviews"

// What serve answers, the review command answers byte for byte; where serve answers with an HTTP
// error, it has no answer.
func TestReviewAnswersTheGoldens(t *testing.T) {
	t.Parallel()
	requests, err := filepath.Glob(goldens + "/*.request.json")
	if err != nil || len(requests) < 40 {
		t.Fatalf("%d goldens, %v", len(requests), err)
	}
	for _, request := range requests {
		name := strings.TrimSuffix(filepath.Base(request), ".request.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := os.ReadFile(request)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(goldens, name+".response.json"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			rejected := err != nil || bytes.Contains(want, []byte(`"kind":"Status"`))
			got := runWith(t, nil, bytes.NewReader(body), "review")
			switch {
			case rejected:
				if got.Code != 1 || got.Stdout != "" || got.Stderr == "" {
					t.Errorf("got %+v, want a message and exit code 1", got)
				}
			case got.Stdout != string(want):
				t.Errorf("got  %swant %s", got.Stdout, want)
			default:
				failed := bytes.Contains(want, []byte(`"status":"Failed"`))
				if failed != (got.Code == 1) || failed != (got.Stderr != "") {
					t.Errorf("exit code %d and message %q", got.Code, got.Stderr)
				}
			}
		})
	}
}
