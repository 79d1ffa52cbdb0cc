package serve

import (
	"io/fs"
	"math"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/config"
)

// gcPercent is GOGC if the environment does not set it. With a small heap, Go's 100 means a
// collection for every 700 small reviews, and each one scans 2 MB that live for ever. 200 saves 3
// to 9 % of the CPU of a small request and costs 4 MB of memory (make bench-serve).
const gcPercent = 200

// setGCPercent applies gcPercent unless the variable GOGC is set, which the runtime has already
// read. A memory limit overrides it.
func setGCPercent(environ []string) {
	if !isSet(environ, "GOGC") {
		debug.SetGCPercent(gcPercent)
	}
}

// isSet reports whether a variable has a value.
func isSet(environ []string, name string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		value, ok := strings.CutPrefix(kv, name+"=")
		return ok && value != ""
	})
}

// memoryLimit returns the memory limit for the runtime in bytes: the key memory-limit; else 0 if
// the variable GOMEMLIMIT is set, which the runtime has already read; else the cgroup's limit less
// a reserve, so that the garbage collector works harder before the kernel kills the container.
func memoryLimit(key config.Bytes, environ []string, root fs.FS) int64 {
	if key > 0 {
		return int64(key)
	}
	if isSet(environ, "GOMEMLIMIT") {
		return 0
	}
	limit := cgroupLimit(root)
	return limit - min(max(limit/10, outsideHeap), limit/4)
}

// outsideHeap is the resident memory outside the heap, plus how far the heap exceeds its limit
// under a flood, in bytes: 17 to 30 MiB in TestR1FloodOfLargeBodies of test/oracle/faults.
const outsideHeap = 38 << 20

// setMemoryLimit applies limit unless it is 0. It returns the limit in effect, or 0 if there is
// none.
func setMemoryLimit(limit int64) int64 {
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	if limit = debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// cgroupLimit returns the lowest memory limit of the process's cgroup and its parents, or 0 if
// there is none. root is the file system's root. It supports versions 1 and 2 (cgroups(7)).
func cgroupLimit(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	lowest := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		// HIERARCHY:CONTROLLERS:PATH; version 2 has hierarchy 0 and no controllers.
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "":
			lowest = min(lowest, lowestLimit(root, "sys/fs/cgroup", group, "memory.max"))
		case strings.Contains(","+controllers+",", ",memory,"):
			lowest = min(lowest, lowestLimit(root, "sys/fs/cgroup/memory", group, "memory.limit_in_bytes"))
		}
	}
	// Version 1 writes "no limit" as a number close to the maximum.
	if lowest >= math.MaxInt64/2 {
		return 0
	}
	return lowest
}

// lowestLimit reads the file called name of the group and each of its parents, up to the mount. In
// a container the mount is often the group itself and the path does not exist.
func lowestLimit(root fs.FS, mount, group, name string) int64 {
	lowest := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := fs.ReadFile(root, path.Join(mount, group, name)); err == nil {
			// "max" means that there is no limit.
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				lowest = min(lowest, n)
			}
		}
		if group == "/" {
			return lowest
		}
	}
}
