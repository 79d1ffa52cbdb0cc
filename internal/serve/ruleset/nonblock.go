//go:build !js

package ruleset

import "syscall"

// nonblock is the flag with which opening a pipe does not wait.
const nonblock = syscall.O_NONBLOCK
