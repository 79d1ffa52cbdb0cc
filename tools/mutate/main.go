// Command mutate changes the code in small ways, one at a time, and prints each change that no test
// notices: delete what no test needs, test it, or say in equivalent.tsv why it changes nothing.
// All mutants of a group of packages are in one build. Those tests judge one that reach it.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// A group has packages that are mutated together, and more folders whose tests judge them.
type group struct{ packages, judges string }

func main() {
	groups := map[string]group{
		"tlsreload": {"internal/tlsreload", ""},
		"review":    {"internal/review", "conversion/webhook test/oracle"},
		"server":    {"internal/server/gate internal/server/listen internal/server", "internal/serve/metrics conversion/webhook test/oracle"},
		"engine": {
			"internal/converters/keep/annotation internal/converters/keep internal/converters/rules/plan internal/converters/rules/exec",
			"internal/converters/rules internal/laws/hold conversion test/upstream",
		},
	}
	every := flag.Int("every", 1, "try one mutant of so many")
	only := flag.String("only", "", "try mutants whose file, function and change match this expression")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := 0
	for _, name := range flag.Args() {
		if err := groups[name].try(ctx, regexp.MustCompile(*only), *every); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			code = 1
		}
	}
	stop()
	os.Exit(code)
}

// try prints the mutants of g that live, and the score of each package.
func (g group) try(ctx context.Context, only *regexp.Regexp, every int) error {
	folders := strings.Fields(g.packages)
	list, err := os.ReadFile("tools/mutate/equivalent.tsv")
	if err != nil || len(folders) == 0 {
		return cmp.Or(err, errors.New("no such group, see tools/mutate/main.go"))
	}
	equivalent := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		if at := strings.LastIndex(line, "\t"); at > 0 {
			equivalent[line[:at]] = true
		}
	}
	scratch, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	mutants, err := instrument(ctx, folders, scratch)
	if err != nil {
		return err
	}
	for name := range equivalent {
		if file, _, _ := strings.Cut(name, "\t"); slices.Contains(folders, filepath.Dir(file)) &&
			!slices.ContainsFunc(mutants, func(m mutant) bool { return m.name() == name }) {
			fmt.Printf("%s\tis not a mutant any more: take it off the list of the equivalent ones\n", name)
		}
	}
	tests, err := judges(ctx, append(folders, strings.Fields(g.judges)...), scratch)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var workers errgroup.Group
	workers.SetLimit(runtime.NumCPU())
	tried, killed, same, wrong := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for i, m := range mutants {
		if i%every != 0 || !only.MatchString(m.name()) {
			continue
		}
		workers.Go(func() error {
			killer := kill(ctx, i+1, tests[i+1], &mu)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			folder := filepath.Dir(m.file)
			tried[folder]++
			verdict := ""
			switch {
			case killer != "" && equivalent[m.name()]:
				verdict = killer + " kills it: take it off the list of the equivalent ones"
			case killer != "":
				killed[folder]++
			case equivalent[m.name()]:
				same[folder]++
			case len(tests[i+1]) == 0:
				verdict = "no test reaches it"
			default:
				verdict = "lives"
			}
			if verdict != "" {
				wrong++
				fmt.Printf("%s\t%s (line %d)\n", m.name(), verdict, m.line)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	for _, folder := range folders {
		fmt.Printf("%s: of %d mutants tests kill %d, and %d are equivalent\n", folder, tried[folder], killed[folder], same[folder])
	}
	if wrong > 0 {
		return fmt.Errorf("%d mutants are neither killed nor listed as equivalent", wrong)
	}
	return nil
}
