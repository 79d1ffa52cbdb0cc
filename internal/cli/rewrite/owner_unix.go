//go:build unix

package rewrite

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of another one, as far as the user may.
func keepOwner(file *os.File, of fs.FileInfo) {
	if stat, ok := of.Sys().(*syscall.Stat_t); ok && (int(stat.Uid) != os.Geteuid() || int(stat.Gid) != os.Getegid()) {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}
