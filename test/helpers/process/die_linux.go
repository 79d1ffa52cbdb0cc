package process

import "syscall"

// dieWithParent has the kernel kill a process when the test's is gone without its cleanups, as on a
// timeout.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
