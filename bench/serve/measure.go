package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

type bench struct {
	dir        string
	ca         *x509.CertPool
	contenders []contender
	pinned     bool
	profile    string
	results    []result
}

// A result is one server under one workload in one round.
type result struct {
	workload, server string
	cpu              time.Duration // of the server, per request
	p50, p99         time.Duration
	perSecond        float64
	peakRSS, own     int64 // bytes; see memory
	inFlight         int64 // bytes of bodies
}

// round measures all servers under one workload, one after the other, each fresh.
func (b *bench) round(ctx context.Context, w workload) error {
	for _, c := range b.contenders {
		r, err := b.measure(ctx, c, w)
		if err != nil {
			return fmt.Errorf("%s under %s: %w", c.name, w.name, err)
		}
		log.Printf("  %-18s %9s CPU/request  p50 %9s  p99 %9s  %8.0f/s  %4d MB, %d MB of its own",
			c.name, r.cpu, r.p50, r.p99, r.perSecond, r.peakRSS>>20, r.own>>20)
		b.results = append(b.results, r)
	}
	return nil
}

func (b *bench) measure(ctx context.Context, c contender, w workload) (result, error) {
	admin, err := freeAddress(ctx)
	if err != nil {
		return result{}, err
	}
	addr, stop, pid, err := b.start(ctx, c, admin)
	if err != nil {
		return result{}, err
	}
	defer stop()
	client := b.client(w.clients)
	defer client.CloseIdleConnections()
	body := w.body()
	post := func() error { return post(ctx, client, addr, body, c.name != "echo") }
	if err := waitFor(ctx, post); err != nil {
		return result{}, err
	}
	if _, err := load(w.clients, max(w.requests/10, w.clients), post); err != nil {
		return result{}, err
	}
	cpu, err := cpuTime(pid)
	if err != nil {
		return result{}, err
	}
	if b.profile != "" && c.name == "webhookd" {
		go b.saveProfile(ctx, admin)
	}
	start := time.Now()
	times, err := load(w.clients, w.requests, post)
	if err != nil {
		return result{}, err
	}
	took := time.Since(start)
	after, err := cpuTime(pid)
	if err != nil {
		return result{}, err
	}
	rss, own, err := memory(pid)
	slices.Sort(times)
	return result{
		workload: w.name, server: c.name,
		cpu: (after - cpu) / time.Duration(len(times)),
		p50: times[len(times)/2], p99: times[len(times)*99/100],
		perSecond: float64(len(times)) / took.Seconds(), peakRSS: rss, own: own, inFlight: int64(len(body) * w.clients),
	}, err
}

// start runs a server on the server's processor and returns its address.
func (b *bench) start(ctx context.Context, c contender, admin string) (addr string, stop func(), pid int, err error) {
	if addr, err = freeAddress(ctx); err != nil {
		return "", nil, 0, err
	}
	// Not in the folder of the pair, which webhookd watches: it would read the pair again whenever
	// it logs.
	logged, err := os.CreateTemp("", "bench-serve-"+c.name+".log")
	if err != nil {
		return "", nil, 0, err
	}
	args := append(slices.Clone(c.args), "--listen="+addr, "--tls-dir="+b.dir)
	if c.name == "webhookd" {
		args = append(args, "--admin-listen="+admin)
	}
	cmd := exec.CommandContext(ctx, c.path, args...) //nolint:gosec // a server that build has made
	cmd.Stdout, cmd.Stderr = logged, logged
	if err := b.onServerCPU(cmd.Start); err != nil {
		return "", nil, 0, err
	}
	return addr, func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
		_ = logged.Close()
		_ = os.Remove(logged.Name())
	}, cmd.Process.Pid, nil
}

// freeAddress returns an address that no one listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
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

func (b *bench) client(connections int) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: b.ca, ServerName: "localhost", MinVersion: tls.VersionTLS12},
		Protocols:       protocols, MaxIdleConnsPerHost: connections,
	}}
}

// post sends one review as kube-apiserver does and reads the whole answer.
func post(ctx context.Context, client *http.Client, addr string, body []byte, check bool) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+addr+"/crdconvert?timeout=30s", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, */*")
	req.Header.Set("User-Agent", "kube-apiserver-admission")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	tail := &tail{}
	if _, err := io.Copy(tail, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, tail.last)
	}
	if check && (!bytes.Contains(tail.last, []byte("Success")) && !bytes.Contains(tail.first, []byte("Success")) || tail.size < len(body)/2) {
		return fmt.Errorf("no success: %s ... %s", tail.first, tail.last)
	}
	return nil
}

// tail keeps the ends of what is written to it.
type tail struct {
	first, last []byte
	size        int
}

func (t *tail) Write(p []byte) (int, error) {
	if t.size == 0 {
		t.first = append(t.first, p[:min(len(p), 200)]...)
	}
	t.size += len(p)
	t.last = append(t.last, p[max(0, len(p)-200):]...)
	t.last = t.last[max(0, len(t.last)-200):]
	return len(p), nil
}

func waitFor(ctx context.Context, post func() error) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := post()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// load posts n times from a number of clients, each one request at a time, and returns how long
// each took.
func load(clients, n int, post func() error) ([]time.Duration, error) {
	var wg sync.WaitGroup
	times := make([][]time.Duration, clients)
	errs := make([]error, clients)
	for i := range clients {
		wg.Go(func() {
			for range n / clients {
				start := time.Now()
				if errs[i] = post(); errs[i] != nil {
					return
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	return slices.Concat(times...), errors.Join(errs...)
}
