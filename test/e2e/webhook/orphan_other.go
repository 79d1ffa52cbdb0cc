//go:build !linux

package webhook

import "syscall"

// attributes are those of any process: only Linux ends it with the test's.
func attributes() *syscall.SysProcAttr { return nil }
