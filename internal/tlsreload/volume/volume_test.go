package volume_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/internal/tlsreload/volume"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

func files(text string) map[string][]byte {
	return map[string][]byte{"a": []byte(text), "b": []byte(text)}
}

func open(t *testing.T, dir string) *volume.Files {
	t.Helper()
	g, err := volume.Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	f, err := g.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// Open files keep their generation: after a swap they are gone, and not those of the next one.
func TestOpenFilesKeepTheirGeneration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tlstest.WriteSecretDir(t, dir, files("old"))
	f := open(t, dir)
	if _, ok := f.FS.(fs.StatFS); !ok {
		t.Error("fs.Stat would open the files")
	}
	if got, err := fs.ReadFile(f.FS, "a"); string(got) != "old" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	tlstest.SwapSecretDir(t, dir, files("new"))
	if got, err := fs.ReadFile(f.FS, "b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a swap: %q, %v", got, err)
	}
	if got, err := fs.ReadFile(open(t, dir).FS, "b"); string(got) != "new" || err != nil {
		t.Errorf("the new generation: %q, %v", got, err)
	}
}

func TestAbsoluteLink(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(elsewhere, "a"), []byte("text"), 0o600),
		os.Symlink(elsewhere, filepath.Join(dir, "..data"))); err != nil {
		t.Fatal(err)
	}
	if got, err := fs.ReadFile(open(t, dir).FS, "a"); string(got) != "text" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// Links of a volume stay in it; those of a plain folder may lead anywhere.
func TestLinksThatLeaveTheFolder(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, mounted := t.TempDir(), t.TempDir()
	tlstest.WriteSecretDir(t, mounted, files("text"))
	for _, link := range []string{filepath.Join(plain, "link"), filepath.Join(mounted, "..data", "link")} {
		if err := os.Symlink(secret, link); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := fs.ReadFile(open(t, plain).FS, "link"); string(got) != "text" || err != nil {
		t.Errorf("plain folder: %q, %v", got, err)
	}
	if got, err := fs.ReadFile(open(t, mounted).FS, "link"); err == nil {
		t.Errorf("volume: %q", got)
	}
}

func TestMissingFolders(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "missing")
	g, err := volume.Current(missing)
	if err != nil || g != (volume.Generation{Path: missing}) {
		t.Errorf("got %+v, %v", g, err)
	}
	if _, err := g.Open(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if g, err := volume.Current(file); err == nil {
		t.Errorf("a file: %+v", g)
	}
}

// The result is from a reading during which the folder did not change.
func TestReadSeesOneGeneration(t *testing.T) {
	t.Parallel()
	errFailed := errors.New("failed")
	for _, test := range []struct {
		name  string
		swaps int
		want  string
		err   string
	}{
		{"no swap", 0, "old", "failed"},
		{"a swap", 1, "new", "failed"},
		{"it changes each time", 5, "", "folder changed 5 times while it was read: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tlstest.WriteSecretDir(t, dir, files("old"))
			reads := 0
			got, err := volume.Read(dir, func() (volume.Generation, error) { return volume.Current(dir) },
				func(g volume.Generation) (string, error) {
					if reads++; reads <= test.swaps {
						tlstest.SwapSecretDir(t, dir, files("new"))
					}
					text, err := os.ReadFile(filepath.Join(g.Path, "a"))
					return string(text), errors.Join(err, errFailed)
				})
			want := test.err
			if test.swaps == 5 {
				want += dir
			}
			if got != test.want || err == nil || err.Error() != want {
				t.Errorf("got %q, %v, want %q, %s", got, err, test.want, want)
			}
		})
	}
}

func TestReadStopsWhereTheFolderCannotBeFound(t *testing.T) {
	t.Parallel()
	errGone := errors.New("gone")
	for _, finds := range []int{0, 1} {
		reads, looks := 0, 0
		_, err := volume.Read("dir", func() (volume.Generation, error) {
			if looks++; looks > finds {
				return volume.Generation{}, errGone
			}
			return volume.Generation{Path: "dir"}, nil
		}, func(volume.Generation) (string, error) { reads++; return "text", nil })
		if !errors.Is(err, errGone) || reads != finds {
			t.Errorf("found %d times: %v, read %d times", finds, err, reads)
		}
	}
}
