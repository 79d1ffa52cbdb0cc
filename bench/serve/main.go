// Command serve compares webhookd with a bare echo server and controller-runtime's conversion
// handler: each as a process of its own on one processor, under the same load over TLS and HTTP/1.1
// keep-alive from this process on another. webhookd is the released program with the rules of
// crontab/; "webhookd-go" is the custom server of examples/, whose CronTab is written in Go.
//
// Absolute figures move with the machine; what counts is the server CPU per request as a ratio to
// the echo server's in the same round.
package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/bench/measure"
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
	chosen := flags.String("servers", "", "comma-separated `names` of servers to run in addition to echo; all if empty")
	bin := flags.String("bin", "", "`folder` with the servers' binaries; they are built if it is empty")
	var peers []measure.Server
	flags.Func("peer", "`name=command` of one more server for the same reviews, which takes --listen and --tls-dir; repeatable", func(value string) error {
		peer, err := parsePeer(value)
		peers = append(peers, peer)
		return err
	})
	layers := flags.Bool("layers", false, "run the parts of webhookd in place of the other servers")
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
		if err := measure.Build(ctx, dir,
			measure.Program{Name: "echo", Module: ".", Package: "./peers/echo"},
			measure.Program{Name: "controllerruntime", Module: ".", Package: "./peers/controllerruntime"},
			measure.Program{Name: "webhookd", Module: "..", Package: "./cmd/webhookd"},
			measure.Program{Name: "custom", Module: "..", Package: "./examples/custom-server"},
			measure.Program{Name: "layers", Module: ".", Package: "./peers/layers"},
		); err != nil {
			return err
		}
	}
	rig, err := measure.NewRig(dir)
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, crontab); err != nil {
		return err
	}
	servers := append(contenders(*bin, filepath.Join(dir, "crontab"), *layers, *chosen), peers...)
	b := &bench{rig: rig, contenders: servers, profile: *profile}
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

// parsePeer reads a name, and a command with its arguments.
func parsePeer(value string) (measure.Server, error) {
	name, command, found := strings.Cut(value, "=")
	words := strings.Fields(command)
	if !found || len(words) == 0 {
		return measure.Server{}, errors.New("not of the form name=command")
	}
	return measure.Server{Name: name, Path: words[0], Args: words[1:]}, nil
}

func contains(list, name string) bool {
	for n := range strings.SplitSeq(list, ",") {
		if n == name {
			return true
		}
	}
	return false
}

// crontab has the CRD of the reviews' objects, and the rules that convert them.
//
//go:embed crontab
var crontab embed.FS

// contenders are the servers under test. rules is the folder of crontab.
func contenders(bin, rules string, layers bool, only string) []measure.Server {
	files := []string{"--rules=" + filepath.Join(rules, "rules.yaml"), "--crds=" + filepath.Join(rules, "crd.yaml")}
	serve := []string{"serve", "--pprof"}
	echo := measure.Server{Name: "echo", Path: filepath.Join(bin, "echo")}
	webhookd := measure.Server{Name: "webhookd", Path: filepath.Join(bin, "webhookd"), Args: slices.Concat(serve, files), Admin: true}
	if layers {
		all := []measure.Server{echo}
		for _, layer := range []string{"review", "rules", "limits"} {
			all = append(all, measure.Server{
				Name: layer, Path: filepath.Join(bin, "layers"), Args: append([]string{"--layer=" + layer}, files...),
			})
		}
		return append(all, webhookd)
	}
	chosen := []measure.Server{echo}
	for _, c := range []measure.Server{
		webhookd,
		{Name: "webhookd-go", Path: filepath.Join(bin, "custom"), Args: serve, Admin: true},
		{Name: "controller-runtime", Path: filepath.Join(bin, "controllerruntime")},
	} {
		if only == "" || contains(only, c.Name) {
			chosen = append(chosen, c)
		}
	}
	return chosen
}
