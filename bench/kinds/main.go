// Command kinds compares webhookd with rules (testdata/clusterapi) and controller-runtime's
// conversion handler with Cluster API's own Go types and conversion functions. Both convert the
// same objects, one a request and in lists. Each server is a process of its own on one processor;
// the load comes over TLS from this process on another.
//
// What counts is the ratio of the servers' CPU per request in the same round.
package main

import (
	"context"
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
	flags := flag.NewFlagSet("kinds", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "`number` of rounds; each runs both servers for every load")
	scale := flags.Float64("scale", 1, "`factor` on the number of requests")
	only := flags.String("only", "", "comma-separated `folders` of kinds to measure; all if empty")
	source := flags.String("kinds", filepath.Join("..", "testdata", "clusterapi"), "`folder` of the kinds")
	bin := flags.String("bin", "", "`folder` with the servers' binaries; they are built if it is empty")
	export := flags.String("export", "", "`folder` to write the kinds and their CRDs to, for BenchmarkKinds, instead of measuring")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, err := loadKinds(ctx, *source)
	if err != nil {
		return err
	}
	if *export != "" {
		return exportKinds(all, *export)
	}
	dir, err := os.MkdirTemp("", "bench-kinds")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if *bin == "" {
		*bin = dir
		if err := measure.Build(ctx, dir,
			measure.Program{Name: "webhookd", Module: "..", Package: "./cmd/webhookd"},
			measure.Program{Name: "clusterapi", Module: ".", Package: "./peers/clusterapi"},
		); err != nil {
			return err
		}
	}
	b, err := newBench(ctx, dir, *bin, all)
	if err != nil {
		return err
	}
	defer b.stop()
	var loads []*load
	for _, k := range all {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), k.name) {
			continue
		}
		some, err := b.loads(ctx, k)
		if err != nil {
			return err
		}
		loads = append(loads, some...)
	}
	for round := range *rounds {
		log.Printf("round %d of %d", round+1, *rounds)
		for _, l := range loads {
			if err := b.measure(ctx, l, round, *scale); err != nil {
				return err
			}
		}
	}
	report(os.Stdout, loads)
	return nil
}

// newBench starts both servers.
func newBench(ctx context.Context, dir, bin string, kinds []kind) (*bench, error) {
	config := filepath.Join(dir, "kinds")
	if err := exportKinds(kinds, config); err != nil {
		return nil, err
	}
	rig, err := measure.NewRig(dir)
	if err != nil {
		return nil, err
	}
	b := &bench{client: rig.Client(1)}
	for i, s := range []measure.Server{
		{
			Name: "webhookd", Path: filepath.Join(bin, "webhookd"), Admin: true,
			Args: []string{"serve", "--rules=" + config, "--crds=" + config},
		},
		{Name: "controller-runtime", Path: filepath.Join(bin, "clusterapi")},
	} {
		if b.servers[i], err = rig.Start(ctx, s); err != nil {
			b.stop()
			return nil, err
		}
	}
	return b, nil
}
