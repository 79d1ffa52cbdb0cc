package kubeapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusError returns the error for an answer that is not a success. The functions of
// k8s.io/apimachinery/pkg/api/errors know the error.
func statusError(verb, path string, code int, body []byte) error {
	var status metav1.Status
	if err := json.Unmarshal(body, &status); err != nil || status.Kind != "Status" {
		status = metav1.Status{}
	}
	status.Code = int32(code) //nolint:gosec // of HTTP
	status.Message = cmp.Or(Message(body), strings.ToLower(http.StatusText(code)), "no reason given")
	return fmt.Errorf("API server: cannot %s: %w (%d): %s", verb, &apierrors.StatusError{ErrStatus: status}, code, path)
}

// Message returns the message in the body of a failed answer: that of a metav1.Status, or the
// beginning of the text that a proxy wrote.
func Message(body []byte) string {
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && (status.Message != "" || status.Kind == "Status") {
		return status.Message
	}
	text := strings.Join(strings.Fields(string(body)), " ")
	return text[:min(len(text), 300)]
}

func codeOf(err error) int {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return int(status.ErrStatus.Code)
	}
	return 0
}

// FieldConflicts returns the fields that another manager owns and to which a server-side apply
// gives another value; nil if err is something else. A cause has a field, such as
// .spec.conversion.strategy, and a message, such as conflict with "kubectl" using v1.
func FieldConflicts(err error) []metav1.StatusCause {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || codeOf(err) != http.StatusConflict || status.ErrStatus.Details == nil {
		return nil
	}
	var conflicts []metav1.StatusCause
	for _, cause := range status.ErrStatus.Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, cause)
		}
	}
	return conflicts
}

// IsChanged reports whether the object is not, or is no longer, what the caller has read: read it
// again.
func IsChanged(err error) bool {
	return codeOf(err) == http.StatusConflict && FieldConflicts(err) == nil
}

// IsExpired reports whether a list cannot be continued: its first page is too old.
func IsExpired(err error) bool { return codeOf(err) == http.StatusGone }

// Allow adds to an error of RBAC what to allow: "get of secrets". Other errors stay as they are.
func Allow(err error, format string, args ...any) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return fmt.Errorf("%w\nallow %s", err, fmt.Sprintf(format, args...))
}
