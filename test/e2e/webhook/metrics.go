package webhook

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Metrics are the samples of one scrape.
type Metrics []sample

type sample struct {
	name   string
	labels []string // name and value in turn
	value  float64
}

// Sum adds up the samples of a metric that have all these labels, which are given as names and
// values in turn. It is 0 where there is none.
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
	for _, s := range m {
		if s.name == name && s.has(labels) {
			sum += s.value
		}
	}
	return sum
}

func (s *sample) has(labels []string) bool {
	for want := range slices.Chunk(labels, 2) {
		if len(want) != 2 {
			return false
		}
		found := false
		for label := range slices.Chunk(s.labels, 2) {
			found = found || slices.Equal(label, want)
		}
		if !found {
			return false
		}
	}
	return true
}

// ParseMetrics reads the Prometheus text format, such as the API server's own /metrics.
func ParseMetrics(text []byte) (Metrics, error) {
	var m Metrics
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		s, err := parseSample(line)
		if err != nil {
			return nil, err
		}
		m = append(m, s)
	}
	return m, lines.Err()
}

// parseSample reads NAME{LABEL="VALUE",...} NUMBER.
func parseSample(line string) (sample, error) {
	var s sample
	end := strings.IndexAny(line, "{ ")
	if end < 0 {
		return s, fmt.Errorf("not a sample of a metric: %s", line)
	}
	s.name, line = line[:end], line[end:]
	for line[0] == '{' || line[0] == ',' {
		if line[1] == '}' {
			line = line[1:]
			break
		}
		label, rest, ok := strings.Cut(line[1:], "=")
		if !ok {
			return s, fmt.Errorf("a label without a value: %s", line)
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return s, fmt.Errorf("value of the label %s: %w", label, err)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return s, fmt.Errorf("value of the label %s: %w", label, err)
		}
		s.labels = append(s.labels, label, value)
		line = rest[len(quoted):]
	}
	number, _, _ := strings.Cut(strings.TrimLeft(line, "} "), " ") // a timestamp may follow
	var err error
	s.value, err = strconv.ParseFloat(number, 64)
	return s, err
}

// scrape reads /metrics of an admin listener.
func scrape(t *testing.T, addr string) Metrics {
	t.Helper()
	code, text := get(t, "http://"+addr+"/metrics")
	m, err := ParseMetrics([]byte(text))
	if err != nil || code != http.StatusOK {
		t.Fatalf("read webhookd's metrics: HTTP %d, %v", code, err)
	}
	return m
}

// get returns the status and the text of an answer of webhookd.
func get(t *testing.T, url string) (code int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("ask webhookd: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("ask webhookd: %v", err)
	}
	return resp.StatusCode, string(body)
}
