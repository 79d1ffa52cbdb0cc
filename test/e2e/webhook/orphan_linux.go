package webhook

import "syscall"

// attributes make the kernel end webhookd when the test's process ends without its cleanups, as on
// a timeout.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
