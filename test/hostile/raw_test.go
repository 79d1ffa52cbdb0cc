package hostile_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/hostile"
)

// TestRawRequests sends the bytes of A8, one case after the other.
func TestRawRequests(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := len(p.log(0))
	cases := hostile.RawCases()
	before := p.counters(t)
	verdicts := make([]*played, len(cases))
	answers := make([][]*played, len(cases))
	for i := range cases {
		verdicts[i] = &played{}
		answers[i] = verdicts[i].converse(dial(t, p), &cases[i])
		after := p.counters(t)
		verdicts[i].judgeCounters(sum(cases[i].Want), grown(before, after))
		before = after
	}
	p.judgeRaw(cases, verdicts, answers, first)
}

// TestSlowRequests does the same with requests that never end, all of which wait at once.
func TestSlowRequests(t *testing.T) {
	t.Parallel()
	p := start(t)
	first := len(p.log(0))
	cases := hostile.SlowCases()
	before := p.counters(t)
	verdicts := make([]*played, len(cases))
	answers := make([][]*played, len(cases))
	var waiting sync.WaitGroup
	var want []hostile.Answer
	for i := range cases {
		c := dial(t, p)
		want = append(want, cases[i].Want...)
		verdicts[i] = &played{}
		waiting.Go(func() { answers[i] = verdicts[i].converse(c, &cases[i]) })
	}
	waiting.Wait()
	verdicts[0].judgeCounters(sum(want), grown(before, p.counters(t)))
	p.judgeRaw(cases, verdicts, answers, first)
}

// judgeRaw judges the lines of the log, and reports all verdicts. An answer with a line in the log
// is a case of its own for that.
func (p *webhookd) judgeRaw(cases []hostile.RawCase, verdicts []*played, answers [][]*played, first int) {
	var logged []hostile.Case
	var lines []*played
	for i := range cases {
		for n, answer := range answers[i] {
			if want := cases[i].Want[n]; want.Line != "" {
				answer.bytesIn = bytesIn(&want)
				logged, lines = append(logged, hostile.Case{Want: want}), append(lines, answer)
			}
		}
	}
	p.judgeLog(logged, lines, first)
	for i := range cases {
		p.t.Run(cases[i].Name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range verdicts[i].problems {
				t.Error(problem)
			}
		})
	}
	for i, line := range lines {
		for _, problem := range line.problems {
			p.t.Errorf("answer %d: %s", i, problem)
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
