// Package apistatus answers HTTP requests with a metav1.Status.
//
// kube-apiserver shows its user the message of a non-2xx answer only if the body is a JSON Status;
// it replaces plain text with a generic sentence. So every answer other than a ConversionReview
// goes through this package.
package apistatus

import (
	"encoding/json"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// retryAfterSeconds is how long an overloaded server asks clients to wait. The API server's client
// repeats a 429 up to ten times within its 30 s, and only if Retry-After is a whole number.
const retryAfterSeconds = 1

// Write answers with a Failure [metav1.Status] as JSON: the HTTP code, the machine-readable reason,
// and the message that the API server shows to its user. It sets Content-Type, Content-Length and
// X-Content-Type-Options and leaves other headers alone. It ignores an error of w, which means that
// the client has gone.
func Write(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	write(w, &metav1.Status{Code: int32(code), Reason: reason, Message: message}) //nolint:gosec // an HTTP status code fits
}

// WriteOverloaded answers 429 Too Many Requests with `Retry-After: 1`, so kube-apiserver tries
// again within the time that its caller has left.
func WriteOverloaded(w http.ResponseWriter, message string) {
	w.Header().Set("Retry-After", strconv.Itoa(retryAfterSeconds))
	write(w, &metav1.Status{
		Code:    http.StatusTooManyRequests,
		Reason:  metav1.StatusReasonTooManyRequests,
		Message: message,
		Details: &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds},
	})
}

func write(w http.ResponseWriter, status *metav1.Status) {
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	status.Status = metav1.StatusFailure
	body, err := json.Marshal(status)
	if err != nil {
		// Impossible: a Status has only strings and integers.
		http.Error(w, status.Message, int(status.Code))
		return
	}
	body = append(body, '\n')
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(int(status.Code))
	_, _ = w.Write(body)
}
