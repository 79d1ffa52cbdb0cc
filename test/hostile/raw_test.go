package hostile_test

import (
	"io"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/hostile"
)

// TestRawRequests writes bytes to TLS connections and holds what comes back against the cases of
// A8, with counters, log and what becomes of the connection.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := start(t, "--header-timeout", "1s", "--body-timeout", "2s", "--min-body-rate", "0")
	first := len(p.log(0))
	cases := hostile.RawCases()
	verdicts := make([]*played, len(cases))
	// An answer with a line in the log is a case of its own for that.
	var logged []hostile.Case
	var lines []*played
	before := p.counters(t)
	for i := range cases {
		v := &played{}
		verdicts[i] = v
		answers := v.converse(dial(t, p), &cases[i])
		for n := range answers {
			if want := cases[i].Want[n]; want.Line != "" {
				answers[n].bytesIn = bytesIn(&want)
				logged, lines = append(logged, hostile.Case{Want: want}), append(lines, answers[n])
			}
		}
		after := p.counters(t)
		v.judgeCounters(sum(cases[i].Want), grown(before, after))
		before = after
	}
	p.judgeLog(logged, lines, first)
	for i := range cases {
		t.Run(cases[i].Name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range verdicts[i].problems {
				t.Error(problem)
			}
		})
	}
	for i, line := range lines {
		for _, problem := range line.problems {
			t.Errorf("answer %d: %s", i, problem)
		}
	}
}

// converse sends the bytes of a case and reads its answers, all of which share the verdict.
func (r *played) converse(c *connection, k *hostile.RawCase) []*played {
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.WriteString(c, k.Send) // what matters is the answer
	}()
	defer func() {
		c.end()
		<-sent
	}()
	answers := make([]*played, len(k.Want))
	closed := false
	for i := range k.Want {
		closed = k.Want[i].Closed
		answers[i] = &played{}
		if k.Want[i].Result == hostile.Nothing {
			continue
		}
		method, _, _ := strings.Cut(k.Send, " ")
		got, err := c.read(method)
		if err != nil {
			r.say("answer %d: %v", i, err)
			return answers[:i]
		}
		answers[i].message, answers[i].bytesOut = r.judgeReply(&k.Want[i], &got), len(got.body)
		if got.closed != k.Want[i].Closed {
			r.say("answer %d says that the connection is closed: %t, want %t", i, got.closed, k.Want[i].Closed)
		}
	}
	if closed {
		if err := c.ended(); err != nil {
			r.say("the connection does not end: %v", err)
		}
	} else if err := c.kept(); err != nil {
		r.say("the connection does not serve on: %v", err)
	}
	return answers
}

func bytesIn(a *hostile.Answer) int {
	if a.Result == hostile.Success {
		return len(hostile.RawBody())
	}
	return 0
}

// sum adds up the counters of answers.
func sum(answers []hostile.Answer) map[string]float64 {
	counters := map[string]float64{}
	for i := range answers {
		for name, value := range answers[i].Counters {
			counters[name] += value
		}
	}
	return counters
}
