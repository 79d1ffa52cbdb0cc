package server

import (
	"testing"
	"time"
)

func TestRequestTime(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{
		"":                            29 * time.Second,
		"timeout=30s":                 29 * time.Second,
		"timeout=10s":                 9 * time.Second,
		"timeout=2s":                  time.Second,
		"timeout=1s":                  500 * time.Millisecond,
		"timeout=1ms":                 500 * time.Microsecond,
		"timeout=1h":                  29 * time.Second,
		"timeout=10":                  29 * time.Second,
		"timeout=-5s":                 29 * time.Second,
		"timeout=0s":                  29 * time.Second,
		"timeout=":                    29 * time.Second,
		"timeout":                     29 * time.Second,
		"timeout=soon":                29 * time.Second,
		"timeout=%zz":                 29 * time.Second,
		"timeout=9999999999999999h":   29 * time.Second,
		"timeout=%31%30s":             9 * time.Second,
		"a=b&timeout=10s&timeout=20s": 9 * time.Second,
		"xtimeout=10s&Timeout=10s":    29 * time.Second,
		"&&=&;timeout=10s":            29 * time.Second,
	} {
		if got := requestTime(query, 30*time.Second); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

func TestDefaultInFlightBytes(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int64{
		1<<63 - 1: 1 << 30, // no limit
		1000:      600,
		512 << 20: 322122546,
	} {
		if got := defaultInFlightBytes(limit); got != want {
			t.Errorf("limit %d: %d, want %d", limit, got, want)
		}
	}
}
