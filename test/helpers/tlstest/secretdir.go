package tlstest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	dataLink     = "..data"
	dataLinkSoon = "..data_tmp"
	generation   = "..generation_*" // the kubelet puts the time here
)

// WriteSecretDir makes dir, which must not hold a volume yet, look like a mounted Secret whose data
// is files.
func WriteSecretDir(tb testing.TB, dir string, files map[string][]byte) {
	tb.Helper()
	must(tb, os.MkdirAll(dir, 0o755))
	SwapSecretDir(tb, dir, files)
}

// SwapSecretDir replaces the data of a directory made by WriteSecretDir in the kubelet's order
// (Kubernetes pkg/volume/util/atomic_writer.go): a new directory, its files, a rename of the link,
// the visible links, and the removal of the old directory.
func SwapSecretDir(tb testing.TB, dir string, files map[string][]byte) {
	tb.Helper()
	old, _ := os.Readlink(filepath.Join(dir, dataLink)) // none at the first time

	next, err := os.MkdirTemp(dir, generation) //nolint:usetesting // it belongs in dir
	must(tb, err)
	must(tb, os.Chmod(next, 0o755))
	for name, data := range files {
		must(tb, os.WriteFile(filepath.Join(next, name), data, 0o644))
	}
	must(tb, os.Symlink(filepath.Base(next), filepath.Join(dir, dataLinkSoon)))
	must(tb, os.Rename(filepath.Join(dir, dataLinkSoon), filepath.Join(dir, dataLink)))

	entries, err := os.ReadDir(dir)
	must(tb, err)
	visible := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if _, kept := files[name]; !kept && !strings.HasPrefix(name, "..") {
			must(tb, os.Remove(filepath.Join(dir, name)))
		}
		visible[name] = true
	}
	for name := range files {
		if !visible[name] {
			must(tb, os.Symlink(filepath.Join(dataLink, name), filepath.Join(dir, name)))
		}
	}
	if old != "" {
		must(tb, os.RemoveAll(filepath.Join(dir, old)))
	}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatalf("secret directory: %v", err)
	}
}
