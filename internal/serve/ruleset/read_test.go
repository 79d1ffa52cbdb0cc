package ruleset

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A volume changes while it is read: the kubelet points ..data at the new files and removes the old
// ones.
func TestAFolderIsReadWhole(t *testing.T) {
	t.Parallel()
	names := []string{"a.yaml", "b.yaml", "c.yaml"}
	volume := func(text string) map[string][]byte {
		files := map[string][]byte{}
		for _, name := range names {
			files[name] = []byte(text)
		}
		return files
	}
	for name, tt := range map[string]struct {
		swaps []func(t *testing.T, dir, generation string) // the first one during the first reading, and so on
		want  map[string]string
		fails string
	}{
		"nothing changes": {want: map[string]string{"a.yaml": "old", "b.yaml": "old", "c.yaml": "old"}},
		"half of the old files are gone": {
			swaps: []func(*testing.T, string, string){func(t *testing.T, dir, _ string) {
				t.Helper()
				halfGone(t, dir, volume("new"))
			}},
			want: map[string]string{"a.yaml": "new", "b.yaml": "new", "c.yaml": "new"},
		},
		"the old folder is gone": {
			swaps: []func(*testing.T, string, string){func(t *testing.T, dir, _ string) {
				t.Helper()
				tlstest.SwapSecretDir(t, dir, volume("new"))
			}},
			want: map[string]string{"a.yaml": "new", "b.yaml": "new", "c.yaml": "new"},
		},
		"a file is gone for good": {
			swaps: []func(*testing.T, string, string){func(t *testing.T, dir, _ string) {
				t.Helper()
				tlstest.SwapSecretDir(t, dir, map[string][]byte{"c.yaml": []byte("new")})
			}},
			want: map[string]string{"c.yaml": "new"},
		},
		"a file cannot be read": {
			swaps: []func(*testing.T, string, string){func(t *testing.T, _, generation string) {
				t.Helper()
				if err := os.Remove(filepath.Join(generation, "b.yaml")); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink("nowhere", filepath.Join(generation, "b.yaml")); err != nil {
					t.Fatal(err)
				}
			}},
			want:  map[string]string{"a.yaml": "old", "c.yaml": "old"},
			fails: "DIR/b.yaml: cannot read rules: no such file or directory, fix the link or remove it",
		},
		"it changes each time": {
			swaps: slices.Repeat([]func(*testing.T, string, string){func(t *testing.T, dir, _ string) {
				t.Helper()
				tlstest.SwapSecretDir(t, dir, volume("new"))
			}}, 5),
			want:  map[string]string{},
			fails: "folder changed 5 times while it was read: DIR",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tlstest.WriteSecretDir(t, dir, volume("old"))
			reads := 0
			files, err := readWhole(dir, func(generation string) ([]File, error) {
				if reads < len(tt.swaps) {
					tt.swaps[reads](t, dir, generation)
				}
				reads++
				return readFolder(t.Context(), generation, dir)
			})
			got := map[string]string{}
			for _, f := range files {
				got[strings.TrimPrefix(f.Name, dir+"/")] = string(f.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			text := ""
			if err != nil {
				text = strings.ReplaceAll(Origin{What: "rules", Remedy: "there are none"}.Unread(dir, err).Error(), dir, "DIR")
			}
			if diff := cmp.Diff(tt.fails, text); diff != "" {
				t.Errorf("error: %s", diff)
			}
		})
	}
}

// halfGone is a volume in the middle of a swap: the link points at the new files, and the first old
// ones are gone.
func halfGone(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	link := filepath.Join(dir, "..data")
	old, err := os.Readlink(link)
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, "..kept")
	if err := os.Rename(filepath.Join(dir, old), kept); err != nil {
		t.Fatal(err)
	}
	tlstest.SwapSecretDir(t, dir, files)
	if err := os.Rename(kept, filepath.Join(dir, old)); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files))[1:] {
		if err := os.Remove(filepath.Join(dir, old, name)); err != nil {
			t.Fatal(err)
		}
	}
}
