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

// gcPercent is GOGC where the environment has none. Of a small heap Go's 100 is a collection for every 700 small reviews, each
// of which goes over 2 MB that live for ever (make bench-serve: 3 to 9 % of the CPU of a small request, for 4 MB more of memory).
const gcPercent = 200

// setGCPercent makes gcPercent the runtime's, unless the variable GOGC is set, which the runtime has obeyed already. The memory
// limit, if there is one, comes before it.
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

// memoryLimit decides what GOMEMLIMIT the process gets: the key memory-limit; else nothing (0) where
// the variable GOMEMLIMIT is set, which the runtime has obeyed already; else what the cgroup's limit
// leaves for the heap, so that a container is not killed before the garbage collector has tried.
func memoryLimit(key config.Bytes, environ []string, root fs.FS) int64 {
	if key > 0 {
		return int64(key)
	}
	if isSet(environ, "GOMEMLIMIT") {
		return 0
	}
	limit := cgroupLimit(root)
	return limit - min(max(limit/10, besideHeap), limit/4)
}

// besideHeap is what the process has resident beside its heap, and how far that goes over its limit under a flood, in bytes:
// 17 to 30 MiB in TestR1FloodOfLargeBodies of test/oracle/faults.
const besideHeap = 38 << 20

// setMemoryLimit makes limit the runtime's, unless it is 0, and returns the one in force, or 0.
func setMemoryLimit(limit int64) int64 {
	if limit > 0 {
		debug.SetMemoryLimit(limit)
	}
	if limit = debug.SetMemoryLimit(-1); limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// cgroupLimit returns the lowest memory limit of the process's cgroup and those above it, or 0
// without one. It knows version 2 and version 1 (cgroups(7)), where root is the file system's root.
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
	// Version 1 writes "no limit" as a number close to the highest there is.
	if lowest >= math.MaxInt64/2 {
		return 0
	}
	return lowest
}

// lowestLimit looks at the file called name of the group and each above it, up to the mount. In a
// container the mount is often the group itself and the path leads nowhere.
func lowestLimit(root fs.FS, mount, group, name string) int64 {
	lowest := int64(math.MaxInt64)
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		if text, err := fs.ReadFile(root, path.Join(mount, group, name)); err == nil {
			// "max" is no number, and no limit.
			if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
				lowest = min(lowest, n)
			}
		}
		if group == "/" {
			return lowest
		}
	}
}
