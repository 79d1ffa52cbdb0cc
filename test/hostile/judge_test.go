package hostile_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/hostile"
)

// maxMessage is more than any message has: what is left out is counted.
const maxMessage = 1500

// A verdict gathers what is wrong with an answer.
type verdict struct{ problems []string }

func (v *verdict) say(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// judgeReply compares what came with what must come. It returns the message of the answer, if it
// has one.
func (v *verdict) judgeReply(want *hostile.Answer, got *reply) string {
	if got.code != want.Code {
		v.say("code %d, want %d: %.300s", got.code, want.Code, got.body)
		return ""
	}
	if got.code >= 300 && got.code < 400 || got.header.Get("Location") != "" {
		v.say("a redirect: %d %s", got.code, got.header.Get("Location"))
	}
	if want.Result != hostile.Plain && got.header.Get("Content-Type") != "application/json" {
		v.say("Content-Type %q", got.header.Get("Content-Type"))
	}
	var message string
	switch want.Result {
	case hostile.Success:
		v.sameText(want.Whole(), string(got.body))
		return ""
	case hostile.Failed:
		message = v.failedReview(got.body)
	case hostile.Status:
		message = v.status(want, got.body)
	case hostile.Plain, hostile.Nothing:
		message = string(got.body)
	}
	v.judgeMessage(want.Message, message)
	return message
}

func (v *verdict) judgeMessage(want, got string) {
	if !strings.Contains(got, want) {
		v.say("message %.600q, want %q in it", got, want)
	}
	if strings.Contains(got, hostile.Canary) {
		v.say("the message quotes a secret: %q", got)
	}
	if len(got) > maxMessage {
		v.say("a message of %d bytes", len(got))
	}
	if at := strings.IndexFunc(got, unicode.IsControl); at >= 0 && got[at:] != "\n" {
		v.say("control characters in the message %q", got)
	}
}

// A reviewResult is the result in a review.
type reviewResult struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// failedReview returns the message of a review without objects.
func (v *verdict) failedReview(body []byte) string {
	var review struct {
		Kind     string `json:"kind"`
		Response struct {
			UID              string            `json:"uid"`
			ConvertedObjects []json.RawMessage `json:"convertedObjects"`
			Result           reviewResult      `json:"result"`
		} `json:"response"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		v.say("the answer is no JSON: %v", err)
	}
	if review.Kind != "ConversionReview" || review.Response.UID != hostile.UID {
		v.say("not the review that was asked for: %.200s", body)
	}
	if review.Response.Result.Status != "Failed" || len(review.Response.ConvertedObjects) > 0 {
		v.say("not a failure: %.200s", body)
	}
	return review.Response.Result.Message
}

// status returns the message of a metav1.Status.
func (v *verdict) status(want *hostile.Answer, body []byte) string {
	var got struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Status     string `json:"status"`
		Reason     string `json:"reason"`
		Message    string `json:"message"`
		Code       int    `json:"code"`
	}
	if err := json.Unmarshal(body, &got); err != nil {
		v.say("the answer is no JSON: %v: %.200s", err, body)
	}
	if got.Kind != "Status" || got.APIVersion != "v1" || got.Status != "Failure" || got.Code != want.Code || got.Reason != want.Reason {
		v.say("not the Status with code %d and reason %s: %.300s", want.Code, want.Reason, body)
	}
	return got.Message
}

// sameText says where two texts differ.
func (v *verdict) sameText(want, got string) {
	if want == got {
		return
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-40):min(len(s), at+120)] }
	v.say("the answer differs from byte %d on: %q, want %q", at, around(got), around(want))
}

func (v *verdict) judgeCounters(want, got map[string]float64) {
	wanted := map[string]float64{}
	for name, value := range want {
		if value != 0 {
			wanted[name] = value
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		v.say("counters (-want +got):\n%s", diff)
	}
}

// A logLine has the fields of the lines of requests.
type logLine struct {
	Level    string `json:"level"`
	Msg      string `json:"msg"`
	UID      string `json:"uid"`
	Error    string `json:"error"`
	Objects  int    `json:"objects"`
	Failed   int    `json:"failed"`
	BytesIn  int    `json:"bytesIn"`
	BytesOut int    `json:"bytesOut"`
	Code     int    `json:"code"`
}

// maxLine is how many bytes a line of the log has at most: the message of a failure has 1 KiB.
const maxLine = 2 << 10

// judgeLine compares the line of a request with what is known of it.
func (v *verdict) judgeLine(c *hostile.Case, played *played, text string) {
	var got logLine
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		v.say("a line of the log is no JSON: %q", text)
		return
	}
	want := logLine{Level: map[string]string{"review done": "info", "request rejected": "debug"}[c.Want.Line], Msg: c.Want.Line}
	if want.Level == "" {
		want.Level = "warn"
	}
	switch c.Want.Line {
	case "request rejected":
		want.Code = c.Want.Code
	case "body rejected":
		if want.UID = c.Want.UID; want.UID == "" && got.UID == hostile.UID {
			want.UID = got.UID // where it was read before the fault
		}
		want.BytesIn, want.Error = played.bytesIn, played.message
		want.Objects, want.Failed = got.Objects, got.Failed
	default:
		want.UID = c.Want.UID
		if want.UID == "" {
			want.UID = hostile.UID
		}
		want.BytesIn, want.BytesOut, want.Error = played.bytesIn, played.bytesOut, played.message
		want.Objects, want.Failed = c.Want.Objects, c.Want.Failed
	}
	if len(text) > maxLine {
		v.say("a line of the log with %d bytes: %s", len(text), text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		v.say("the line of the log (-want +got):\n%s", diff)
	}
}
