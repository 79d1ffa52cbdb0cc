package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A memoryGroup is a cgroup that may take so much memory, as a container has one. The kernel kills
// a process in it that takes more.
type memoryGroup struct {
	dir  string
	most string // file with the most memory that it has taken
}

// newMemoryGroup makes one below the cgroup of this process, for which it needs the rights, and
// removes it when the test ends. Where it cannot, the test fails.
func newMemoryGroup(tb testing.TB, limit int64) *memoryGroup {
	tb.Helper()
	g, file := &memoryGroup{}, ""
	if parent := memoryHierarchy(tb); parent != "" { // cgroups, version 1
		g.dir, g.most, file = parent, "memory.max_usage_in_bytes", "memory.limit_in_bytes"
	} else {
		g.dir, g.most, file = "/sys/fs/cgroup", "memory.peak", "memory.max"
	}
	g.dir = filepath.Join(g.dir, fmt.Sprintf("webhookd-%d-%d", os.Getpid(), time.Now().UnixNano()))
	err := os.Mkdir(g.dir, 0o755) //nolint:gosec // a cgroup is no secret
	if err == nil {
		err = os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(limit, 10)), 0o600)
	}
	if err != nil {
		tb.Fatalf("this test needs a cgroup that bounds memory, and cannot make one; run it as root, with cgroups that may be written: %v", err)
	}
	tb.Cleanup(func() {
		for range 100 {
			if err = os.Remove(g.dir); err == nil || errors.Is(err, os.ErrNotExist) {
				return
			}
			time.Sleep(10 * time.Millisecond) // the process is about to end
		}
		tb.Errorf("a cgroup is left: %v", err)
	})
	return g
}

// memoryHierarchy returns the mounted hierarchy of version 1 that bounds memory, or nothing where
// there is none.
func memoryHierarchy(tb testing.TB) string {
	tb.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 3 && f[2] == "cgroup" && strings.Contains(","+f[3]+",", ",memory,") {
			return f[1]
		}
	}
	return ""
}

// peak returns the most memory that the group has taken, in bytes, what the kernel keeps for its
// sockets and files included.
func (g *memoryGroup) peak(tb testing.TB) int64 {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, g.most))
	if err != nil {
		tb.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// PeakOfContainer returns the most memory that the process has taken with what the kernel keeps for
// it, in bytes. There has to be a [Options].Memory.
func (p *Process) PeakOfContainer() int64 {
	p.tb.Helper()
	return p.group.peak(p.tb)
}
