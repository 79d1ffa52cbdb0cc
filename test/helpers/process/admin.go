package process

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// probeTimeout is that of a probe, as the chart sets it.
const probeTimeout = 2 * time.Second

// Ready asks for readiness as the kubelet does. It is safe for concurrent use.
func (p *Process) Ready(ctx context.Context) bool {
	code, _, err := p.Get(ctx, "/readyz")
	return err == nil && code == http.StatusOK
}

// Live asks whether the process answers. It is safe for concurrent use.
func (p *Process) Live(ctx context.Context) bool {
	code, _, err := p.Get(ctx, "/livez")
	return err == nil && code == http.StatusOK
}

// Get asks the admin listener, on a connection of its own. It is safe for concurrent use.
func (p *Process) Get(ctx context.Context, path string) (code int, body string, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.AdminAddr+path, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

// Metrics are the samples of a scrape, or of several, by name with labels as they are written.
type Metrics map[string]float64

// ParseMetrics reads the Prometheus text format.
func ParseMetrics(text string) Metrics {
	m := make(Metrics)
	for line := range strings.Lines(text) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && line[0] != '#' {
			if value, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64); err == nil {
				m[line[:i]] = value
			}
		}
	}
	return m
}

// Scrape returns what /metrics says now.
func (p *Process) Scrape() Metrics {
	p.tb.Helper()
	code, text, err := p.Get(p.tb.Context(), "/metrics")
	if err != nil || code != http.StatusOK {
		p.tb.Fatalf("metrics: code %d: %v", code, err)
	}
	return ParseMetrics(text)
}

// Sum adds up the samples of a metric that have all these labels, given as names and values in
// turn. It is 0 where there is none. A histogram NAME has NAME_count and NAME_sum.
func (m Metrics) Sum(name string, labels ...string) float64 {
	var sum float64
series:
	for series, value := range m {
		bare, of, _ := strings.Cut(series, "{")
		if bare != name {
			continue
		}
		for label := range slices.Chunk(labels, 2) {
			if !strings.Contains(","+of, ","+label[0]+`="`+label[1]+`"`) {
				continue series
			}
		}
		sum += value
	}
	return sum
}

// GC makes the process collect its garbage, for which it has to serve pprof, and returns the bytes
// on its heap then.
func (p *Process) GC() (int64, error) {
	for range 2 { // what a finalizer or a sync.Pool held goes with the second
		code, _, err := p.Get(p.tb.Context(), "/debug/pprof/heap?gc=1")
		if err != nil || code != http.StatusOK {
			return 0, fmt.Errorf("heap profile: code %d: %w", code, err)
		}
	}
	return int64(p.Scrape()["go_memstats_heap_alloc_bytes"]), nil
}
