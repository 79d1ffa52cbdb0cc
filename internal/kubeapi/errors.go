package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A StatusError is an answer of the API server that is no success.
type StatusError struct {
	Verb   string // get, list, create or patch, as RBAC calls them
	Path   string
	Code   int
	Status metav1.Status
}

// Error implements error: what was wanted, and what the API server said.
func (e *StatusError) Error() string {
	message := e.Status.Message
	if message == "" {
		message = strings.ToLower(http.StatusText(e.Code))
	}
	if message == "" {
		message = "no reason given"
	}
	return fmt.Sprintf("API server: cannot %s: %s (%d): %s", e.Verb, message, e.Code, e.Path)
}

// A FieldConflict is a field that another manager owns, of which a server-side apply wants another value.
type FieldConflict struct {
	Field   string // .spec.conversion.strategy
	Message string // conflict with "kubectl" using apiextensions.k8s.io/v1
}

// FieldConflicts returns what a server-side apply failed of; nil if err is something else.
func FieldConflicts(err error) []FieldConflict {
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.Code != http.StatusConflict || status.Status.Details == nil {
		return nil
	}
	var conflicts []FieldConflict
	for _, cause := range status.Status.Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, FieldConflict{cause.Field, cause.Message})
		}
	}
	return conflicts
}

// IsChanged reports whether err says that the object is not, or is no more, what the caller has read: read it again.
func IsChanged(err error) bool {
	return hasCode(err, http.StatusConflict) && FieldConflicts(err) == nil
}

// IsNotFound reports whether err says that there is no such object.
func IsNotFound(err error) bool { return hasCode(err, http.StatusNotFound) }

// IsForbidden reports whether err says that RBAC does not allow it.
func IsForbidden(err error) bool { return hasCode(err, http.StatusForbidden) }

// IsExpired reports whether err says that a list cannot be read on: too much time has passed since its first page.
func IsExpired(err error) bool { return hasCode(err, http.StatusGone) }

func hasCode(err error, code int) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.Code == code
}

// statusError reads the body of an answer: a metav1.Status, or what a proxy has to say.
func statusError(verb, path string, code int, body []byte) *StatusError {
	e := &StatusError{Verb: verb, Path: path, Code: code}
	if err := json.Unmarshal(body, &e.Status); err != nil || e.Status.Kind != "Status" {
		text := strings.Join(strings.Fields(string(body)), " ")
		e.Status = metav1.Status{Message: text[:min(len(text), 300)]}
	}
	return e
}
