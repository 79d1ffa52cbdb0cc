package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/crdconvert/webhookd/test/hostile"
)

// An answer is what matters of an answer.
type answer struct {
	Response *struct {
		UID              string            `json:"uid"`
		ConvertedObjects []json.RawMessage `json:"convertedObjects"`
		Result           struct {
			Status  string `json:"status"`
			Message string `json:"message"`
		} `json:"result"`
	} `json:"response"`
}

// verdict says what is wrong with an answer, and whether it passes off changed values as a success.
func verdict(c *hostile.Case, code int, body []byte) (problem string, changed bool) {
	want := c.Want.Result
	if code != http.StatusOK {
		switch {
		case code < 400 || code >= 500:
			return fmt.Sprintf("code %d", code), false
		case want == hostile.Success && !c.Unsettled:
			return fmt.Sprintf("code %d, want a success: %.200q", code, body), false
		}
		return "", false
	}
	var got answer
	if err := json.Unmarshal(body, &got); err != nil || got.Response == nil {
		return fmt.Sprintf("no review: %v: %.200q", err, body), false
	}
	r := got.Response
	asked := uid(c)
	if r.UID != asked {
		return fmt.Sprintf("uid %.80q, want %.80q", r.UID, asked), false
	}
	switch r.Result.Status {
	case "Success":
		if want != hostile.Success && !c.Unsettled {
			return "a success, want " + string(want), false
		}
		if want == hostile.Success {
			problem = differs(expected(c), r.ConvertedObjects)
		}
		return problem, problem != ""
	case "Failure", "Failed":
		if want == hostile.Success && !c.Unsettled {
			return fmt.Sprintf("failed, want a success: %.200q", r.Result.Message), false
		}
		if r.Result.Message == "" {
			return "failed without a message", false
		}
		return "", false
	}
	return fmt.Sprintf("result %q", r.Result.Status), false
}

// uid returns the uid of a request, or none if it is not JSON. Names are case-sensitive.
func uid(c *hostile.Case) string {
	var outer, inner map[string]json.RawMessage
	var text string
	if json.Unmarshal([]byte(c.Request.Body()), &outer) == nil && json.Unmarshal(outer["request"], &inner) == nil {
		_ = json.Unmarshal(inner["uid"], &text)
	}
	return text
}

// expected returns the objects of the right answer.
func expected(c *hostile.Case) []json.RawMessage {
	var a answer
	if err := json.Unmarshal([]byte(c.Want.Whole()), &a); err != nil || a.Response == nil {
		return nil
	}
	return a.Response.ConvertedObjects
}
