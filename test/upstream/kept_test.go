package upstream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testKept converts recorded objects with kept values back. What a release has written, each later
// one has to read (docs/reference/format.md). So -update writes only a kept.jsonl that is missing.
func (k *kind) testKept(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, "kept.jsonl")
	if _, err := os.Stat(file); *update && errors.Is(err, fs.ErrNotExist) {
		k.recordKept(t, file)
	}
	for i, p := range readPairs(t, dir, "kept.jsonl") {
		var want, got any
		if err := errors.Join(json.Unmarshal(p.Result, &want), json.Unmarshal(k.convert(t, p), &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("line %d of %s: a release could not read what the one before kept (-was +is):\n%s", i+1, file, diff)
		}
	}
}

// recordKept writes up to three pairs a version that have kept values, those with digests first.
func (k *kind) recordKept(t *testing.T, file string) {
	t.Helper()
	count, done := map[string]int{}, map[int]bool{}
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	for _, mark := range []string{`\"inputs\"`, `conversion.webhookd.io/`} {
		for i, p := range k.pairs {
			kept := pair{From: p.To, To: p.From, Object: k.convert(t, p)}
			if done[i] || count[p.From] == 3 || !bytes.Contains(kept.Object, []byte(mark)) {
				continue
			}
			done[i], count[p.From], kept.Result = true, count[p.From]+1, k.convert(t, kept)
			if err := out.Encode(kept); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
