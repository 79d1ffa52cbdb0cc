package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// PeakMemory returns the most memory that the process has had resident, in bytes (VmHWM of
// proc(5)).
func (p *Process) PeakMemory() int64 { return p.status("VmHWM") << 10 }

// ResetPeakMemory has PeakMemory begin again, and returns what is resident now.
func (p *Process) ResetPeakMemory() int64 {
	p.tb.Helper()
	if err := os.WriteFile(p.proc("clear_refs"), []byte("5"), 0o600); err != nil {
		p.tb.Fatal(err)
	}
	return p.status("VmRSS") << 10
}

// CPU returns how much time of processors the process has taken, to a hundredth of a second.
func (p *Process) CPU() time.Duration {
	p.tb.Helper()
	text, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		p.tb.Fatal(err)
	}
	// The name, in brackets, is the second field; utime and stime are the 14th and the 15th, in
	// ticks of 10 ms.
	_, rest, _ := strings.Cut(string(text), ") ")
	var ticks int64
	for _, field := range strings.Fields(rest)[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			p.tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// Descriptors returns how many files and sockets the process has open.
func (p *Process) Descriptors() int {
	p.tb.Helper()
	entries, err := os.ReadDir(p.proc("fd"))
	if err != nil {
		p.tb.Fatal(err)
	}
	return len(entries)
}

// OpenFiles returns the paths of the files that the process has open, without sockets, pipes and
// the like.
func (p *Process) OpenFiles() []string {
	p.tb.Helper()
	links, err := filepath.Glob(p.proc("fd/*"))
	if err != nil {
		p.tb.Fatal(err)
	}
	var paths []string
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

func (p *Process) proc(name string) string {
	return "/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/" + name
}

// status returns a number of /proc/PID/status.
func (p *Process) status(key string) int64 {
	p.tb.Helper()
	text, err := os.ReadFile(p.proc("status"))
	if err != nil {
		p.tb.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, found := strings.CutPrefix(line, key+":"); found {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.tb.Fatal(err)
			}
			return n
		}
	}
	p.tb.Fatalf("no %s in /proc/PID/status", key)
	return 0
}
