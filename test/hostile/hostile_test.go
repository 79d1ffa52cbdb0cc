package hostile_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/hostile"
)

// A played is what is known of a case when its request has been answered.
type played struct {
	verdict

	message           string
	bytesIn, bytesOut int
}

// TestRequests sends the requests of A1 to A7 to webhookd, one after the other, and holds each
// answer, what it is counted as, the line of the log and what becomes of the connection against the
// case.
func TestRequests(t *testing.T) {
	t.Parallel()
	p := start(t)
	cases := hostile.Cases()
	first := len(p.log(0))
	results := play(t, p, cases)
	p.judgeLog(cases, results, first)
	for i := range cases {
		t.Run(cases[i].Path(), func(t *testing.T) {
			t.Parallel()
			for _, problem := range results[i].problems {
				t.Error(problem)
			}
		})
	}
}

// play sends the requests on one connection for as long as it is kept.
func play(t *testing.T, p *webhookd, cases []hostile.Case) []*played {
	t.Helper()
	results := make([]*played, len(cases))
	var c *connection
	before := p.counters(t)
	for i := range cases {
		if c == nil {
			c = dial(t, p)
		}
		result := &played{}
		results[i] = result
		keep := result.exchange(c, &cases[i])
		after := p.counters(t)
		result.judgeCounters(cases[i].Want.Counters, grown(before, after))
		before = after
		if !keep {
			c.end()
			c = nil
		}
	}
	return results
}

// exchange sends the request of a case and judges the answer. It reports whether the connection can
// be used on.
func (r *played) exchange(c *connection, k *hostile.Case) bool {
	got, err := c.do(&k.Request)
	if err != nil {
		r.say("no answer: %v", err)
		return false
	}
	r.message = r.judgeReply(&k.Want, &got)
	r.bytesIn, r.bytesOut = len(k.Request.Body()), len(got.body)
	if got.closed != k.Want.Closed {
		r.say("the answer says that the connection is closed: %t, want %t", got.closed, k.Want.Closed)
	}
	if got.closed || k.Request.Length > 0 {
		if err := c.ended(); err != nil {
			r.say("the connection does not end: %v", err)
		}
		return false
	}
	if err := c.kept(); err != nil {
		r.say("the connection does not serve on: %v", err)
		return false
	}
	return true
}

// judgeLog gives each case its line of the log. Reviews have theirs in order, and so have other
// requests.
func (p *webhookd) judgeLog(cases []hostile.Case, results []*played, first int) {
	lines := p.await(first, len(cases), isOfRequest)
	var reviews, others []string
	for _, line := range lines {
		switch {
		case !isOfRequest(line):
			p.t.Errorf("a line of the log that no case wants: %s", line)
		case strings.Contains(line, `"msg":"request rejected"`):
			others = append(others, line)
		default:
			reviews = append(reviews, line)
		}
	}
	for i := range cases {
		queue := &reviews
		if cases[i].Want.Line == "request rejected" {
			queue = &others
		}
		if len(*queue) == 0 {
			results[i].say("no line of the log")
			continue
		}
		results[i].judgeLine(&cases[i], results[i], (*queue)[0])
		*queue = (*queue)[1:]
	}
	for _, line := range append(reviews, others...) {
		p.t.Errorf("one line of the log too many: %s", line)
	}
}

// isOfRequest is true of the lines that there is one of for each request.
func isOfRequest(line string) bool {
	for _, msg := range []string{"review done", "review failed", "body rejected", "request rejected"} {
		if strings.Contains(line, `"msg":"`+msg+`"`) {
			return true
		}
	}
	return false
}
