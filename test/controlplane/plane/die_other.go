//go:build !linux

package plane

import "syscall"

// dieWithParent can do nothing here; the control plane is for Linux.
func dieWithParent() *syscall.SysProcAttr { return nil }
