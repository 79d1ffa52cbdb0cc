package plane

import "syscall"

// dieWithParent has the kernel kill a child when the test's process is gone.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
