//go:build !linux

package process

import "syscall"

// dieWithParent can do nothing: only Linux ends a process with another one.
func dieWithParent() *syscall.SysProcAttr { return nil }
