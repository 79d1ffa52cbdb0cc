package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/crdconvert/webhookd/bench/measure"
)

type bench struct {
	rig        *measure.Rig
	contenders []measure.Server
	profile    string
	results    []result
}

// A result is one server under one workload in one round.
type result struct {
	workload, server string
	cpu              time.Duration // of the server, per request
	p50, p99         time.Duration
	perSecond        float64
	peakRSS, own     int64 // bytes; see measure.Process.Memory
	inFlight         int64 // bytes of bodies
}

// round measures all servers under one workload, one after the other, each fresh.
func (b *bench) round(ctx context.Context, w workload) error {
	for _, c := range b.contenders {
		r, err := b.measure(ctx, c, w)
		if err != nil {
			return fmt.Errorf("%s under %s: %w", c.Name, w.name, err)
		}
		log.Printf("  %-18s %9s CPU/request  p50 %9s  p99 %9s  %8.0f/s  %4d MB, %d MB of its own",
			c.Name, r.cpu, r.p50, r.p99, r.perSecond, r.peakRSS>>20, r.own>>20)
		b.results = append(b.results, r)
	}
	return nil
}

func (b *bench) measure(ctx context.Context, c measure.Server, w workload) (result, error) {
	server, err := b.rig.Start(ctx, c)
	if err != nil {
		return result{}, err
	}
	defer server.Stop()
	client := b.rig.Client(w.connections())
	defer client.CloseIdleConnections()
	body := w.body()
	post := func() error { return measure.Post(ctx, client, server.Address, body, c.Name != "echo") }
	if err := measure.WaitFor(ctx, post); err != nil {
		return result{}, err
	}
	if _, err := measure.Load(w.clients, max(w.requests/10, w.clients), w.pause, post); err != nil {
		return result{}, err
	}
	cpu, err := server.CPU()
	if err != nil {
		return result{}, err
	}
	if b.profile != "" && c.Name == "webhookd" {
		go b.saveProfile(ctx, server.Admin)
	}
	start := time.Now()
	times, err := measure.Load(w.clients, w.requests, w.pause, post)
	if err != nil {
		return result{}, err
	}
	took := time.Since(start)
	after, err := server.CPU()
	if err != nil {
		return result{}, err
	}
	rss, own, err := server.Memory()
	slices.Sort(times)
	return result{
		workload: w.name, server: c.Name,
		cpu: (after - cpu) / time.Duration(len(times)),
		p50: times[len(times)/2], p99: times[len(times)*99/100],
		perSecond: float64(len(times)) / took.Seconds(), peakRSS: rss, own: own, inFlight: int64(len(body) * w.clients),
	}, err
}

func (b *bench) saveProfile(ctx context.Context, admin string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/debug/pprof/profile?seconds=2", http.NoBody)
	if err != nil {
		log.Print(err)
		return
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		log.Printf("no profile: %v", err)
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil {
		err = os.WriteFile(b.profile, text, 0o600)
	}
	if err != nil {
		log.Printf("no profile: %v", err)
	}
}
