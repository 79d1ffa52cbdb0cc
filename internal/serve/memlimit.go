package serve

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

// GOGC, if the environment does not set it.
const (
	// gcServing: with a small heap, Go's 100 means a collection for every 700 small reviews, and
	// each one scans 2 MB that live for ever. 200 saves 3 to 9 % of the CPU of a small request and
	// costs 4 MB of memory (make bench-serve).
	gcServing = 200
	// gcLoading is for the start, when large CRDs leave much garbage.
	gcLoading = 50
)

// setGCPercent sets GOGC unless the variable is set, which the runtime has already read. A memory
// limit overrides it.
func setGCPercent(environ []string, percent int) {
	if !isSet(environ, "GOGC") {
		debug.SetGCPercent(percent)
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

// needed is how many times the live heap of an idle server the memory limit must be: requests and
// connections may take 60 % of the limit.
const needed = 2.5

// liveHeap returns the bytes of the heap that are in use.
func liveHeap() uint64 {
	runtime.GC()
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// checkMemory returns an error if the server, ready to serve with so many live bytes, leaves too
// little of the limit to requests; of 0 it does not.
func checkMemory(limit int64, live uint64) error {
	least := int64(float64(live) * needed)
	if limit == 0 || limit >= least {
		return nil
	}
	return fmt.Errorf("memory-limit: %d MiB is too low for these rules, which need at least %d MiB: raise it, or the container's limit",
		limit>>20, least>>20+1)
}

// cgroupLimit returns the lowest memory limit of the process's cgroup and its parents, or 0 if
// there is none. root is the file system's root.
func cgroupLimit(root fs.FS) int64 {
	lowest := int64(math.MaxInt64)
	for mount, group := range memoryGroups(root) {
		name := "memory.limit_in_bytes"
		if mount == version2 {
			name = "memory.max"
		}
		lowest = min(lowest, lowestLimit(root, mount, group, name))
	}
	// Version 1 writes "no limit" as a number close to the maximum.
	if lowest >= math.MaxInt64/2 {
		return 0
	}
	return lowest
}

// version2 is where cgroups of version 2 are mounted.
const version2 = "sys/fs/cgroup"

// memoryGroups returns the paths of the process's cgroups by the mounts of their hierarchies, of
// version 1 and 2 (cgroups(7)), that bound memory.
func memoryGroups(root fs.FS) map[string]string {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	groups := map[string]string{}
	for line := range strings.Lines(string(text)) {
		// HIERARCHY:CONTROLLERS:PATH; version 2 has hierarchy 0 and no controllers.
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "":
			groups[version2] = group
		case strings.Contains(","+controllers+",", ",memory,"):
			groups["sys/fs/cgroup/memory"] = group
		}
	}
	return groups
}

// socketInterval is how old the result of socketMemory may be: a reading costs some 50 us.
const socketInterval = 100 * time.Millisecond

// socketMemory returns a function that returns the bytes that the kernel has for the sockets of the
// process's cgroup of version 2, or 0 if it is unknown. It is not safe for concurrent use.
func socketMemory(root fs.FS) func() int64 {
	group := path.Join(version2, memoryGroups(root)[version2], "memory.stat")
	if _, err := fs.Stat(root, group); err != nil {
		group = path.Join(version2, "memory.stat") // of a container, whose path is that of the node
	}
	var last time.Time
	var bytes int64
	return func() int64 {
		if now := time.Now(); now.Sub(last) >= socketInterval {
			last = now
			text, _ := fs.ReadFile(root, group) // none: 0
			_, after, _ := strings.Cut("\n"+string(text), "\nsock ")
			value, _, _ := strings.Cut(after, "\n")
			bytes, _ = strconv.ParseInt(value, 10, 64)
		}
		return bytes
	}
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
