//go:build !unix

package rewrite

import (
	"io/fs"
	"os"
)

// keepOwner has nothing to do: files here have no owner to keep.
func keepOwner(*os.File, fs.FileInfo) {}
