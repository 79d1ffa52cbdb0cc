// Package reviewclient calls conversion webhooks as kube-apiserver does.
package reviewclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Timeout is how long kube-apiserver waits for an answer.
const Timeout = 30 * time.Second

// maxAnswer bounds the memory of an answer, in bytes.
const maxAnswer = 64 << 20

// Request returns a ConversionReview of a version, such as v1, that asks for objects at an
// apiVersion, with the members that kube-apiserver sends, in its order. The uid has no quotes.
func Request(version, uid, apiVersion string, objects ...[]byte) []byte {
	desired, _ := json.Marshal(apiVersion) // a string can always be encoded
	return fmt.Appendf(nil, `{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/%s","request":{"uid":"%s","desiredAPIVersion":%s,"objects":[%s]},`+
		`"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}`+"\n", version, uid, desired, bytes.Join(objects, []byte(",")))
}

// A StatusError is an answer with another code than 200.
type StatusError struct {
	Code int
	// Message is that of a metav1.Status, or the beginning of another text.
	Message string
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("answer is HTTP %d, not 200: %s", e.Code, e.Message)
}

// Post posts a review to a URL and returns the body of an answer with HTTP 200. The error of an
// answer with another code is a *StatusError. The client's timeout should be Timeout, and it should
// follow no redirect.
func Post(ctx context.Context, client *http.Client, url string, review []byte) ([]byte, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"?timeout="+Timeout.String(), bytes.NewReader(review))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "application/json, */*")
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("User-Agent", "webhookd-probe")
	w, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(w.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("answer that ends early: %w", err)
	}
	if w.StatusCode != http.StatusOK {
		return nil, &StatusError{w.StatusCode, messageOf(answer)}
	}
	return answer, nil
}

// messageOf returns the message of a metav1.Status, or the beginning of a proxy's text.
func messageOf(answer []byte) string {
	var status metav1.Status
	if json.Unmarshal(answer, &status) == nil && status.Kind == "Status" {
		return status.Message
	}
	text := strings.Join(strings.Fields(string(answer)), " ")
	return text[:min(len(text), 300)]
}

// NoRedirect is a client's CheckRedirect that follows none.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
