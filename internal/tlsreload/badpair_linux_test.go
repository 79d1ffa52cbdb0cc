package tlsreload

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func badPermissions() []damage {
	return []damage{
		{
			name: "key is not readable", want: "permission denied",
			dir: func(t *testing.T, _ kit, dir string) {
				tmp := filepath.Dir(dir)
				noError(t, os.Chmod(filepath.Dir(tmp), 0o755), os.Chmod(tmp, 0o755), // other users may enter
					os.Chmod(filepath.Join(dir, "..data", KeyFile), 0))
			},
			read: unprivileged,
		},
		{
			name: "key is a FIFO", want: "not a regular file",
			dir: func(t *testing.T, _ kit, dir string) {
				path := filepath.Join(dir, "..data", KeyFile)
				noError(t, os.Remove(path), syscall.Mkfifo(path, 0o644))
			},
		},
	}
}

func TestFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	_, err := readFile(os.DirFS("/proc/self"), "mem", "/tls/tls.key")
	if want := "/tls/tls.key: input/output error"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// unprivileged calls f on a thread without root's right to read everything: setfsuid(2) affects one
// thread, and drops CAP_DAC_OVERRIDE from it until it is reset.
func unprivileged(t *testing.T, f func()) {
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const otherUID = 65534
	noError(t, syscall.Setfsuid(otherUID))
	f()
	noError(t, syscall.Setfsuid(0))
}
