package serve

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/crdconvert/webhookd/internal/serve/config"
)

func files(nameAndText ...string) fs.FS {
	root := fstest.MapFS{}
	for pair := range slices.Chunk(nameAndText, 2) {
		root[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	return root
}

func TestCgroupLimit(t *testing.T) {
	t.Parallel()
	const self = "proc/self/cgroup"
	tests := []struct {
		name string
		root fs.FS
		want int64
	}{
		{"no cgroups", files(), 0},
		{"version 2 in a container", files(self, "0::/\n", "sys/fs/cgroup/memory.max", "536870912\n"), 536870912},
		{"version 2 without a limit", files(self, "0::/\n", "sys/fs/cgroup/memory.max", "max\n"), 0},
		{"version 2 on a host", files(self, "0::/system.slice/webhookd.service\n",
			"sys/fs/cgroup/system.slice/webhookd.service/memory.max", "1000000\n",
			"sys/fs/cgroup/system.slice/memory.max", "max\n"), 1000000},
		{"version 2, the parent's is lower", files(self, "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/memory.max", "2000000\n"), 2000000},
		{"version 2, the path is the host's", files(self, "0::/kubepods/pod1/c1\n",
			"sys/fs/cgroup/memory.max", "3000000\n"), 3000000},
		{"version 1", files(self, "12:cpu,cpuacct:/x\n4:memory:/docker/abc\n1:name=systemd:/x\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\n"), 268435456},
		{"version 1 without a limit", files(self, "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"), 0},
		{"both", files(self, "4:memory:/x\n0::/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes", "5000000\n"), 5000000},
		{"nonsense", files(self, "nonsense\n\n0::\n", "sys/fs/cgroup/memory.max", "-1\n"), 0},
		{"path that leads out", files(self, "0::/../../x\n", "sys/fs/cgroup/memory.max", "4000000\n"), 4000000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := cgroupLimit(tt.root); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	container := func(size int) fs.FS {
		return files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", strconv.Itoa(size)+"\n")
	}
	limited := files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/memory.max", "1000\n")
	tests := []struct {
		name    string
		key     config.Bytes
		environ []string
		root    fs.FS
		want    int64
	}{
		{"the key wins", 64 << 20, []string{"GOMEMLIMIT=1GiB"}, limited, 64 << 20},
		{"the runtime has its own", 0, []string{"GOMEMLIMIT=1GiB"}, limited, 0},
		{"three quarters of a very small container", 0, []string{"GOMEMLIMIT="}, limited, 750},
		{"all but 38 MiB of a small one", 0, nil, container(256 << 20), 218 << 20},
		{"nine tenths of an ordinary one", 0, nil, container(1000 << 20), 900 << 20},
		{"nothing is known", 0, nil, files(), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := memoryLimit(tt.key, tt.environ, tt.root); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// A limit that leaves too little to requests is refused with the number to set.
func TestCheckMemory(t *testing.T) {
	t.Parallel()
	const live = 20 << 20
	for limit, want := range map[int64]string{0: "", 50 << 20: "", 50<<20 - 1: "memory-limit: 49 MiB is too low for these rules, which need at least 51 MiB"} {
		if err := checkMemory(limit, live); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d: %v", limit, err)
		}
	}
}

func TestSocketMemory(t *testing.T) {
	t.Parallel()
	const self, stat = "proc/self/cgroup", "anon 1000\nfile 2000\nsock 4096\nshmem 3\n"
	for name, tt := range map[string]struct {
		root fs.FS
		want int64
	}{
		"of the container": {files(self, "0::/kubepods/pod1/c1\n", "sys/fs/cgroup/memory.stat", stat), 4096},
		"of the group":     {files(self, "0::/a\n", "sys/fs/cgroup/memory.stat", "sock 1\n", "sys/fs/cgroup/a/memory.stat", stat), 4096},
		"none":             {files(self, "0::/a\n", "sys/fs/cgroup/memory.stat", "anon 1\n"), 0},
		"version 1":        {files(self, "4:memory:/x\n"), 0},
	} {
		if got := socketMemory(tt.root)(); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestIsSet(t *testing.T) {
	t.Parallel()
	environ := []string{"GOGCX=1", "XGOGC=1", "GOGC=off", "GOMEMLIMIT="}
	for name, want := range map[string]bool{"GOGC": true, "GOMEMLIMIT": false, "GOG": false, "": false} {
		if got := isSet(environ, name); got != want {
			t.Errorf("%q: got %t, want %t", name, got, want)
		}
	}
}
