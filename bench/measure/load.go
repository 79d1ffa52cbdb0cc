package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Post sends one review as kube-apiserver does, and reads the whole answer. With check, the answer
// must be a success.
func Post(ctx context.Context, client *http.Client, address string, body []byte, check bool) error {
	tail := &tail{}
	if err := send(ctx, client, address, body, tail); err != nil {
		return fmt.Errorf("%w: %s", err, tail.last)
	}
	if check && (!bytes.Contains(tail.last, []byte("Success")) && !bytes.Contains(tail.first, []byte("Success")) || tail.size < len(body)/2) {
		return fmt.Errorf("no success: %s ... %s", tail.first, tail.last)
	}
	return nil
}

// Answer sends one review and returns the answer.
func Answer(ctx context.Context, client *http.Client, address string, body []byte) ([]byte, error) {
	var answer bytes.Buffer
	err := send(ctx, client, address, body, &answer)
	return answer.Bytes(), err
}

func send(ctx context.Context, client *http.Client, address string, body []byte, answer io.Writer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://"+address+"/crdconvert?timeout=30s", bytes.NewReader(body))
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
	if _, err := io.Copy(answer, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
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

// WaitFor posts until it succeeds, at most ten seconds long.
func WaitFor(ctx context.Context, post func() error) error {
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

// Load posts n times from a number of clients, each one request at a time with a pause after it,
// and returns how long each took.
func Load(clients, n int, pause time.Duration, post func() error) ([]time.Duration, error) {
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
				time.Sleep(pause)
			}
		})
	}
	wg.Wait()
	return slices.Concat(times...), errors.Join(errs...)
}
