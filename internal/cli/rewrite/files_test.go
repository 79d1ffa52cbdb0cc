package rewrite

import (
	"os"
	"path/filepath"
	"testing"
)

// A file that changes while it is converted is not overwritten, and no other file is left.
func TestRewriteDoesNotOverwriteEdits(t *testing.T) {
	t.Parallel()
	const before, edited = "a: 1\n", "a: 1\n# edited\n"
	folder := t.TempDir()
	name := filepath.Join(folder, "a.yaml")
	write := func(text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(before)
	file := target{name, name}
	_, info, err := file.read()
	if err != nil {
		t.Fatal(err)
	}
	write(edited)
	if err := file.replace(info, []byte("a: 2\n")); err == nil || err.Error() != name+": cannot write, the file is as it was: someone else changed the file meanwhile, run it again" {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(name); err != nil || string(text) != edited {
		t.Errorf("the file is now %q, %v", text, err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
}
