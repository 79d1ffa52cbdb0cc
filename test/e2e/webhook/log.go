package webhook

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
)

// A record keeps the lines of a log and tells where it says what is served.
type record struct {
	mu      sync.Mutex
	lines   []string
	allowed []string
	serving chan servingLine // the first line that says where
}

// A servingLine is the part of a log line that says where webhookd serves.
type servingLine struct {
	Level       string `json:"level"`
	Listen      string `json:"listen"`
	AdminListen string `json:"adminListen"`
}

func newRecord() *record { return &record{serving: make(chan servingLine, 1)} }

// follow reads the log to its end.
func (r *record) follow(log io.Reader) {
	lines := bufio.NewReader(log)
	for {
		text, err := lines.ReadString('\n')
		if text != "" {
			r.add(strings.TrimSuffix(text, "\n"))
		}
		if err != nil {
			return
		}
	}
}

func (r *record) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, text)
	var line servingLine
	if json.Unmarshal([]byte(text), &line) == nil && line.Listen != "" {
		select {
		case r.serving <- line:
		default:
		}
	}
}

func (r *record) allow(substrings []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.allowed = append(r.allowed, substrings...)
}

// all returns the lines so far.
func (r *record) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// unexpected returns the lines that are warnings, errors or no lines of the log, and not allowed.
func (r *record) unexpected() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []string
	for _, text := range r.lines {
		var line servingLine
		err := json.Unmarshal([]byte(text), &line)
		fine := err == nil && (line.Level == "info" || line.Level == "debug")
		if !fine && !slices.ContainsFunc(r.allowed, func(s string) bool { return strings.Contains(text, s) }) {
			found = append(found, text)
		}
	}
	return found
}
