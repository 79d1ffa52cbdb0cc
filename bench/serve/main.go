// Command serve compares webhookd with a bare echo server and controller-runtime's conversion
// handler: each as a process of its own on one processor, under the same load over TLS and HTTP/1.1
// keep-alive from this process on another.
//
// Absolute figures move with the machine; what counts is the server CPU per request as a ratio to
// the echo server's in the same round.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "`number` of rounds; each runs every server once per workload")
	scale := flags.Float64("scale", 1, "`factor` on the number of requests")
	only := flags.String("only", "", "comma-separated `names` of workloads to run; all if empty")
	servers := flags.String("servers", "", "comma-separated `names` of servers to run in addition to echo; all if empty")
	bin := flags.String("bin", "", "`folder` with the servers' binaries; they are built if it is empty")
	profile := flags.String("profile", "", "`file` to write a CPU profile of webhookd to, under the last workload of the last round")
	if err := flags.Parse(args); err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "bench-serve")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if *bin == "" {
		*bin = dir
		if err := build(ctx, dir); err != nil {
			return err
		}
	}
	ca, err := writePair(dir)
	if err != nil {
		return err
	}
	b := &bench{dir: dir, ca: ca, contenders: contenders(*bin, *servers), profile: *profile}
	if err := b.pin(); err != nil {
		log.Printf("not pinned to processors: %v", err)
	}
	for round := range *rounds {
		for _, w := range workloads() {
			if *only != "" && !contains(*only, w.name) {
				continue
			}
			w.requests = max(w.clients, int(float64(w.requests)**scale))
			log.Printf("round %d of %d: %s", round+1, *rounds, w.name)
			if err := b.round(ctx, w); err != nil {
				return err
			}
		}
	}
	b.report(os.Stdout)
	return nil
}

func contains(list, name string) bool {
	for n := range strings.SplitSeq(list, ",") {
		if n == name {
			return true
		}
	}
	return false
}

// A contender is a server under test.
type contender struct {
	name string
	path string
	args []string
}

func contenders(bin, only string) []contender {
	all := []contender{
		{name: "echo", path: filepath.Join(bin, "echo")},
		{name: "webhookd", path: filepath.Join(bin, "webhookd"), args: []string{"serve", "--tls-static", "--pprof"}},
		{name: "controller-runtime", path: filepath.Join(bin, "controllerruntime")},
	}
	if only == "" {
		return all
	}
	chosen := all[:1]
	for _, c := range all[1:] {
		if contains(only, c.name) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}

// build compiles the servers as they are released: no race detector, no debugging. It is run in
// bench/.
func build(ctx context.Context, dir string) error {
	for _, server := range []struct{ name, module, pkg string }{
		{"echo", ".", "./peers/echo"},
		{"controllerruntime", ".", "./peers/controllerruntime"},
		{"webhookd", "..", "./examples/custom-server"}, // whose kinds the reviews are of
	} {
		log.Printf("building %s", server.pkg)
		cmd := command(ctx, "go", "build", "-trimpath", "-o", filepath.Join(dir, server.name), server.pkg)
		cmd.Dir = server.module
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("building %s: %w", server.pkg, err)
		}
	}
	return nil
}
