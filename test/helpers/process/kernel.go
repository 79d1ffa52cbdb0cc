package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// PeakMemory returns the most memory that the process has had resident, in bytes (VmHWM of
// proc(5)).
func (p *Process) PeakMemory() int64 { return p.status("VmHWM") << 10 }

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
