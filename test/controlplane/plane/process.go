package plane

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a process may take to start or to end.
const patience = 90 * time.Second

// A process is a part of the control plane.
type process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has, with err
	err   error
}

// launch starts a program in dir, whose output goes to a log. It does not outlive the test's
// process, even if that is killed.
func launch(t *testing.T, dir, logFile, program string, args ...string) *process {
	t.Helper()
	p, err := begin(dir, logFile, program, args...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// begin is launch for other goroutines than the test's.
func begin(dir, logFile, program string, args ...string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // of the test's own folder
	if err != nil {
		return nil, err
	}
	p := &process{name: strings.TrimSuffix(filepath.Base(logFile), ".log"), ended: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:noctx,gosec // it ends in order, see stop; our own build
	p.cmd.Dir = dir
	p.cmd.Env = []string{"HOME=" + dir}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		// "Parent" is a thread to Linux, so this one stays until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		defer log.Close() //nolint:errcheck // the child wrote it
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	return p, nil
}

// stop asks the process to end and waits until it has. It is safe to call again.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end %s: %w", p.name, err)
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
	}
	err := fmt.Errorf("%s does not end, it was killed", p.name)
	if killed := p.cmd.Process.Kill(); killed != nil {
		return errors.Join(err, killed)
	}
	<-p.ended
	return err
}

// await waits until ready returns no error.
func (p *process) await(t *testing.T, ready func() error) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		if err == nil {
			return
		}
		select {
		case <-p.ended:
			t.Fatalf("%s ended: %v", p.name, p.err)
		case <-ticker.C:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not get ready: %v", p.name, err)
		}
	}
}
