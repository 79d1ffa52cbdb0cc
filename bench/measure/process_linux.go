package measure

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	serverCPU = 0
	clientCPU = 1
)

// pin keeps this process, the client, off the server's processor.
func (r *Rig) pin() error {
	if runtime.NumCPU() < 2 {
		return fmt.Errorf("one processor only")
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := setCPU(tid, clientCPU); err != nil {
			return err
		}
	}
	r.pinned = true
	return nil
}

// onServerCPU calls start, which forks, so that the child inherits the server's processor.
func (r *Rig) onServerCPU(start func() error) error {
	if !r.pinned {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := setCPU(0, serverCPU); err != nil {
		return err
	}
	err := start()
	if back := setCPU(0, clientCPU); back != nil {
		return back
	}
	return err
}

func setCPU(tid, cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return unix.SchedSetaffinity(tid, &set)
}

// cpuTime returns the time that all threads of a process have run, in user and system mode, to the
// nanosecond.
func cpuTime(pid int) (time.Duration, error) {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, s := range stats {
		text, err := os.ReadFile(s) //nolint:gosec // of /proc
		if err != nil {
			return 0, err
		}
		ns, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// memory returns the peak and what is the process's own; see [Process.Memory].
func memory(pid int) (peak, own int64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		if name != "VmHWM" && name != "RssAnon" {
			continue
		}
		kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return 0, 0, err
		}
		if name == "VmHWM" {
			peak = kb << 10
		} else {
			own = kb << 10
		}
	}
	if peak == 0 || own == 0 {
		return 0, 0, fmt.Errorf("no VmHWM and RssAnon for process %d", pid)
	}
	return peak, own, nil
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // the go command
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd
}
