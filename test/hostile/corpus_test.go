package hostile_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/crdconvert/webhookd/test/hostile"
)

// TestCorpus puts each text of the corpus into four places of a review. Whatever the text is, the
// answer is a review that says the same text where objects are, nothing that steers a terminal is
// in a message, and the log has one line of JSON.
func TestCorpus(t *testing.T) {
	p := start(t)
	texts := hostile.Corpus()
	if len(texts) < hostile.CorpusSize {
		t.Errorf("%d texts, want %d", len(texts), hostile.CorpusSize)
	}
	before := p.counters(t)
	for _, position := range hostile.CorpusPositions() {
		t.Run(position, func(t *testing.T) {
			first := len(p.log(0))
			c := dial(t, p)
			for _, text := range texts {
				got, err := c.do(&hostile.Request{Body: func() string { return hostile.CorpusBody(position, text) }})
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				checkCorpus(t, position, text, &got)
			}
			checkLines(t, position, texts, p.await(first, len(texts), isOfRequest))
		})
	}
	n, long := float64(len(texts)), float64(0)
	for _, text := range texts {
		if tooLong(hostile.InUID, text) {
			long++
		}
	}
	want := map[string]float64{
		`webhookd_reviews_total{from="v1beta1",kind="CronTab.example.com",result="success",to="v1"}`:   3*n - long,
		`webhookd_objects_total{from="v1beta1",kind="CronTab.example.com",result="converted",to="v1"}`: 3*n - long,
		`webhookd_reviews_total{from="unknown",kind="unknown",result="failed",to="unknown"}`:           n,
		`webhookd_objects_total{from="unknown",kind="unknown",result="failed",to="unknown"}`:           n,
		`webhookd_reviews_total{from="none",kind="none",result="rejected",to="none"}`:                  long,
		`webhookd_rejected_total{code="400"}`:                                                          long,
		"webhookd_request_size_bytes_count":                                                            4 * n,
		"webhookd_response_size_bytes_count":                                                           4*n - long,
	}
	var v verdict
	v.judgeCounters(want, grown(before, p.counters(t)))
	for _, problem := range v.problems {
		t.Error(problem)
	}
}

// A corpusAnswer has what these cases look at.
type corpusAnswer struct {
	Response struct {
		UID              string `json:"uid"`
		ConvertedObjects []struct {
			Host *string `json:"host"`
			Port *string `json:"port"`
			Spec struct {
				Value json.RawMessage `json:"value"`
			} `json:"spec"`
		} `json:"convertedObjects"`
		Result reviewResult `json:"result"`
	} `json:"response"`
}

func checkCorpus(t *testing.T, position, text string, got *reply) {
	t.Helper()
	if tooLong(position, text) {
		if got.code != http.StatusBadRequest || !strings.Contains(string(got.body), "longer than 1024 bytes") {
			t.Errorf("%.100q: code %d: %.300s", text, got.code, got.body)
		}
		return
	}
	var answer corpusAnswer
	if err := json.Unmarshal(got.body, &answer); err != nil || got.code != http.StatusOK {
		t.Fatalf("%q: code %d, %v: %.300s", text, got.code, err, got.body)
	}
	r, uid := answer.Response, hostile.UID
	if position == hostile.InUID {
		uid = "u" + text
	}
	if r.UID != uid {
		t.Errorf("%q: uid %q", text, r.UID)
	}
	if position == hostile.InMessage {
		m := r.Result.Message
		odd := strings.IndexFunc(m, func(c rune) bool { return c == unicode.ReplacementChar || !unicode.IsGraphic(c) })
		if r.Result.Status != "Failed" || odd >= 0 || len(m) > maxMessage || !strings.HasPrefix(m, "objects[0] Widget ") {
			t.Errorf("%q: message %q", text, m)
		}
		return
	}
	if r.Result.Status != "Success" || len(r.ConvertedObjects) != 1 {
		t.Fatalf("%q: %.300s", text, got.body)
	}
	object := r.ConvertedObjects[0]
	switch position {
	case hostile.InValue:
		var value map[string]string
		if err := json.Unmarshal(object.Spec.Value, &value); err != nil || value["n"+text] != text {
			t.Errorf("%q: the value is %q", text, object.Spec.Value)
		}
	case hostile.InMoved:
		if joined := joined(object.Host, object.Port); joined != text+":1" {
			t.Errorf("%q: host and port mean %q", text, joined)
		}
	}
}

// tooLong reports whether a text cannot be the uid.
func tooLong(position, text string) bool {
	return position == hostile.InUID && len("u"+text) > hostile.MaxUID
}

// joined is what a host and a port mean as one text.
func joined(host, port *string) string {
	switch {
	case host == nil:
		return "no host"
	case port == nil:
		return *host
	case strings.Contains(*host, ":"):
		return "[" + *host + "]:" + *port
	}
	return *host + ":" + *port
}

// checkLines wants one line of the log for each text.
func checkLines(t *testing.T, position string, texts, lines []string) {
	t.Helper()
	if len(lines) != len(texts) {
		t.Fatalf("%d lines of the log, want %d", len(lines), len(texts))
	}
	for i, line := range lines {
		var got logLine
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Errorf("%q: a line of the log is no JSON: %q", texts[i], line)
		}
		uid := hostile.UID
		if position == hostile.InUID {
			uid = hostile.LoggedUID("u" + texts[i])
		}
		if got.UID != uid {
			t.Errorf("%q: uid %q in the log, want %q", texts[i], got.UID, uid)
		}
	}
}
