package plane

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// tempDirs is what the names of OwnTempDir's folders begin with; the number of a process follows.
const tempDirs = "controlplane-test-"

// OwnTempDir has temporary files of this process, and of those that it starts, go to a folder of
// their own, which remove removes; and it removes the folders of processes that could not do so, as
// they were killed. It is for TestMain, before anything else runs.
func OwnTempDir() (remove func() error, err error) {
	removeOrphans(os.TempDir())
	dir := filepath.Join(os.TempDir(), tempDirs+strconv.Itoa(os.Getpid()))
	remove = func() error { return os.RemoveAll(dir) }
	return remove, errors.Join(os.Mkdir(dir, 0o700), os.Setenv("TMPDIR", dir))
}

func removeOrphans(in string) {
	dirs, err := filepath.Glob(filepath.Join(in, tempDirs+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), tempDirs))
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(pid); err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
			_ = os.RemoveAll(dir) // another run may be removing it
		}
	}
}

// keptDir is where files stay that are to outlive the process.
func keptDir() string {
	dir := os.TempDir()
	if strings.HasPrefix(filepath.Base(dir), tempDirs) {
		return filepath.Dir(dir)
	}
	return dir
}
