package build

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// version is what kube-apiserver says of itself; binaries/go.mod has it as well.
const version = "v1.37.1"

// Minor is the minor of version.
const Minor = 37

// flags make the build cheap: nothing is inlined and there is no information for debuggers, which
// saves a quarter of the compiler's time. That is as much as the tests' build could share with
// these flags left out: 120 of 400 s, and only while all versions of modules are the same.
func flags() []string {
	return []string{
		"-gcflags=all=-l -dwarf=false",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=" + version,
	}
}

// environment for go build: the compiler collects its garbage less often, which saves a few percent
// more, and needs no C compiler.
func environment() []string { return []string{"GOWORK=off", "CGO_ENABLED=0", "GOGC=400"} }

// compile builds all tools of the module in source into dir, in one go so that what they share is
// compiled once, and returns the CPU time that it took.
func compile(ctx context.Context, source, dir string, progress io.Writer) (time.Duration, error) {
	fmt.Fprintf(progress, "building etcd, helm, kube-apiserver, kube-controller-manager and kubectl %s: 3000 packages, "+
		"about 4 minutes on two cores\n", version)
	args := slices.Concat([]string{"build", "-o", dir + "/"}, flags(), []string{"tool"})
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // flags of its own
	cmd.Dir = source
	cmd.Env = append(cmd.Environ(), environment()...)
	// An interrupted build ends its compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the control plane: %w\n%s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
