package ruleset

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUnread checks that the error for each unreadable file has a remedy, and that other errors
// stay as they are.
func TestUnread(t *testing.T) {
	t.Parallel()
	failed := func(path string, err error) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
	err := Origin{What: "rules", Remedy: "name them"}.Unread("dir", errors.Join(
		failed("dir", syscall.ENOENT),
		failed("dir", syscall.ENOTDIR),
		failed("dir/a.yaml", syscall.ENOENT),
		errors.Join(failed("dir/b.yaml", syscall.EACCES), failed("dir/c.yaml", syscall.EIO)),
		errors.New("dir/d.yaml: larger than 2 MiB: split it"),
	))
	want := `dir: cannot read rules: no such file or directory, name them
dir: cannot read rules: not a directory, name them
dir/a.yaml: cannot read rules: no such file or directory, fix the link or remove it
dir/b.yaml: cannot read rules: permission denied, give webhookd the right to read it
dir/c.yaml: cannot read rules: input/output error
dir/d.yaml: larger than 2 MiB: split it`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
	if !errors.Is(err, syscall.EIO) {
		t.Error("the cause is lost")
	}
	if err := (Origin{}).Unread("dir", nil); err != nil {
		t.Errorf("no error becomes %v", err)
	}
}
