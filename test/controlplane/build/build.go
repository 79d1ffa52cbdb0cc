package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Binaries are the paths of the programs of a control plane.
type Binaries struct {
	Etcd, APIServer, ControllerManager, Kubectl, Helm string
}

// programs are the names that `go build tool` gives to the tools of the module binaries.
func programs() []string {
	return []string{"server", "helm", "kube-apiserver", "kube-controller-manager", "kubectl"}
}

func in(dir string) *Binaries {
	return &Binaries{
		Etcd:              filepath.Join(dir, "server"), // of etcd: its main package is go.etcd.io/etcd/server/v3
		Helm:              filepath.Join(dir, "helm"),
		APIServer:         filepath.Join(dir, "kube-apiserver"),
		ControllerManager: filepath.Join(dir, "kube-controller-manager"),
		Kubectl:           filepath.Join(dir, "kubectl"),
	}
}

// Get returns the binaries of the control plane, and builds them if they are not in the cache: the
// folder .cache/controlplane of the repository. It is to be called in the module of this package,
// and tells progress what it builds. A build that is interrupted leaves nothing that a later one
// takes for whole; of two builds at once the second one waits for the first.
func Get(ctx context.Context, progress io.Writer) (*Binaries, error) {
	module, err := moduleDir(ctx)
	if err != nil {
		return nil, err
	}
	source := filepath.Join(module, "binaries")
	key, err := cacheKey(source)
	if err != nil {
		return nil, err
	}
	cache := filepath.Join(module, "..", "..", ".cache", "controlplane")
	dir := filepath.Join(cache, key)
	if complete(dir) {
		return in(dir), nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil { //nolint:gosec // binaries are for everyone
		return nil, err
	}
	unlock, err := lock(filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if complete(dir) {
		return in(dir), nil
	}
	if err := fill(ctx, source, dir, progress); err != nil {
		return nil, err
	}
	return in(dir), removeOthers(cache, key)
}

// complete reports whether a build has put its folder there, which it does when it has all of them.
func complete(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// fill builds next to dir and renames when all is there.
func fill(ctx context.Context, source, dir string, progress io.Writer) error {
	unfinished, err := os.MkdirTemp(filepath.Dir(dir), "unfinished-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(unfinished) }() // it is not there any more if all went well
	start := time.Now()
	cpu, err := compile(ctx, source, unfinished, progress)
	if err != nil {
		return err
	}
	for _, name := range programs() {
		if _, err := os.Stat(filepath.Join(unfinished, name)); err != nil {
			return fmt.Errorf("the build has no %s: %w", name, err)
		}
	}
	if err := os.Chmod(unfinished, 0o755); err != nil { //nolint:gosec // binaries are for everyone
		return err
	}
	fmt.Fprintf(progress, "control plane built in %.0f s (%.0f s of CPU): %s\n", time.Since(start).Seconds(), cpu.Seconds(), dir)
	return os.Rename(unfinished, dir)
}

// removeOthers removes what was built of other versions, and what an interrupted build left.
func removeOthers(cache, key string) error {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() || e.Name() == key })
	var errs []error
	for _, entry := range entries {
		errs = append(errs, os.RemoveAll(filepath.Join(cache, entry.Name())))
	}
	return errors.Join(errs...)
}
