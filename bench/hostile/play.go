package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/crdconvert/webhookd/test/hostile"
)

// patience is how long an answer may take: what kube-apiserver waits.
const patience = 30 * time.Second

func sets() []string {
	return []string{
		hostile.Syntax, hostile.Transform, hostile.Envelope, hostile.Objects, hostile.Numbers, hostile.Strings, hostile.Sizes,
	}
}

type tally struct{ played, right int }

// A score is what became of a peer's answers.
type score struct {
	sets                   map[string]tally
	panics, hangs, changed int
	wrong                  []string
}

// play sends the cases to a peer, one after the other.
func (p *peer) play(cases []hostile.Case) score {
	s := score{sets: map[string]tally{}}
	for i := range cases {
		c := &cases[i]
		if c.Own {
			continue
		}
		t := s.sets[c.Set]
		t.played++
		problem := s.judge(p.handler, c)
		if problem == "" {
			t.right++
		} else {
			s.wrong = append(s.wrong, c.Path()+": "+problem)
		}
		s.sets[c.Set] = t
	}
	return s
}

// An outcome is an answer, or what a handler let out in its place.
type outcome struct {
	*httptest.ResponseRecorder

	panicked any
}

// judge returns what is wrong with the answer to a case, or nothing.
func (s *score) judge(h http.Handler, c *hostile.Case) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	answers := make(chan outcome, 1)
	go func() {
		o := outcome{ResponseRecorder: httptest.NewRecorder()}
		defer func() {
			o.panicked = recover()
			answers <- o
		}()
		h.ServeHTTP(o, request(ctx, &c.Request))
	}()
	select {
	case <-ctx.Done():
		s.hangs++
		return "no answer"
	case o := <-answers:
		if o.panicked != nil {
			s.panics++
			return fmt.Sprintf("panic: %.200v", o.panicked)
		}
		problem, changed := verdict(c, o.Code, o.Body.Bytes())
		if changed {
			s.changed++
		}
		return problem
	}
}

// request makes what net/http would make of a request.
func request(ctx context.Context, r *hostile.Request) *http.Request {
	text := r.Body()
	var body io.Reader = strings.NewReader(text)
	length := int64(len(text))
	if r.Length != 0 {
		length = r.Length
		body = io.MultiReader(body, endsEarly{})
	}
	if r.Chunked {
		length = -1
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, hostile.DefaultTarget, body)
	req.ContentLength = length
	header := r.Header
	if header == nil {
		header = hostile.DefaultHeader()
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	return req
}

// endsEarly is how net/http ends a body that is shorter than its length.
type endsEarly struct{}

// Read implements io.Reader.
func (endsEarly) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
