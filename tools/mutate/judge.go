package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A test is one of a binary, which runs in the folder of its package, and takes a time.
type test struct {
	binary, folder, name string
	time                 time.Duration
	kills                int
}

// run runs tests of one binary, and returns the one that fails, or how they end otherwise. What
// hangs or takes too much memory fails.
func run(ctx context.Context, tests []*test, env string) string {
	limit := 10 * time.Second
	names := make([]string, 0, len(tests))
	for _, t := range tests {
		limit += 5 * t.time
		names = append(names, t.name)
	}
	ctx, cancel := context.WithTimeout(ctx, limit+5*time.Second)
	defer cancel()
	out, err := command(ctx, tests[0].folder, env, "sh", "-c", `ulimit -v 8000000; exec "$@"`, "sh", tests[0].binary,
		"-test.failfast", "-test.timeout="+limit.String(), "-test.run=^("+strings.Join(names, "|")+")$")
	if err == nil {
		return ""
	}
	if match := regexp.MustCompile(`(?m)^\s*--- FAIL: (\w+)`).FindStringSubmatch(out); match != nil {
		return match[1]
	}
	return err.Error()
}

func command(ctx context.Context, folder, env, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.WaitDelay, c.Env = folder, time.Second, append(os.Environ(), env)
	out, err := c.CombinedOutput()
	return string(out), err
}

// judges builds the tests of folders and runs each once. It returns those that reach each mutant.
func judges(ctx context.Context, folders []string, scratch string) (map[int][]*test, error) {
	var mu sync.Mutex
	var workers errgroup.Group
	workers.SetLimit(runtime.NumCPU())
	reached := map[int][]*test{}
	for i, folder := range folders {
		binary := filepath.Join(scratch, strconv.Itoa(i)+".test")
		if out, err := command(ctx, folder, "", "go", "test", "-c", "-vet=off", "-overlay="+filepath.Join(scratch, overlay), "-o="+binary, "."); err != nil {
			return nil, fmt.Errorf("%s: %w\n%s", folder, err, out)
		}
		names := ""
		if _, err := os.Stat(binary); err == nil { // it has tests
			if names, err = command(ctx, folder, "", binary, "-test.list=^(Test|Fuzz|Example)"); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", folder, err, names)
			}
		}
		for name := range strings.FieldsSeq(names) {
			workers.Go(func() error {
				log, start := filepath.Join(scratch, strconv.Itoa(i)+name), time.Now()
				if err := os.WriteFile(log, nil, 0o600); err != nil {
					return err
				}
				t := &test{binary, folder, name, time.Minute, 0}
				failed := run(ctx, []*test{t}, "MUTANT_LOG="+log)
				t.time = time.Since(start)
				numbers, err := os.ReadFile(log)
				mu.Lock()
				defer mu.Unlock()
				if failed != "" {
					fmt.Printf("%s of %s judges nothing: in this build it fails without a mutant (%s)\n", name, folder, failed)
					return ctx.Err()
				}
				for number := range strings.FieldsSeq(string(numbers)) {
					if n, err := strconv.Atoi(number); err == nil && !slices.Contains(reached[n], t) {
						reached[n] = append(reached[n], t)
					}
				}
				return err
			})
		}
	}
	return reached, workers.Wait()
}

// kill returns the test that notices a mutant, or nothing. Quick tests and those that have killed
// others run first, then ever more at once.
func kill(ctx context.Context, number int, tests []*test, mu *sync.Mutex) string {
	mu.Lock()
	slices.SortFunc(tests, func(a, b *test) int {
		return cmp.Compare(a.time/time.Duration(1+a.kills), b.time/time.Duration(1+b.kills))
	})
	mu.Unlock()
	for most := time.Second / 2; len(tests) > 0; most *= 2 {
		var batch, rest []*test
		var sum time.Duration
		for _, t := range tests {
			if sum += t.time; len(batch) == 0 || sum < most && t.binary == batch[0].binary {
				batch = append(batch, t)
			} else {
				rest = append(rest, t)
			}
		}
		if killer := run(ctx, batch, "MUTANT="+strconv.Itoa(number)); killer != "" {
			mu.Lock()
			for _, t := range batch {
				if t.name == killer {
					t.kills++
				}
			}
			mu.Unlock()
			return killer
		}
		tests = rest
	}
	return ""
}
