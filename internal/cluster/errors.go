package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// isTemporary reports whether another attempt makes sense: the API server is overloaded, restarts
// or cannot be reached. retryAfter is the time that it asks to wait.
func isTemporary(err error) (retryAfter time.Duration, again bool) {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		seconds, _ := apierrors.SuggestsClientDelay(err)
		switch status.ErrStatus.Code {
		case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return time.Duration(seconds) * time.Second, true
		}
		return 0, false
	}
	return 0, isUnreachable(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// IsUnavailable reports whether the API server could not be reached, is overloaded or restarts, so
// that the request may succeed some minutes later.
func IsUnavailable(err error) bool {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		return slices.Contains([]int32{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout},
			status.ErrStatus.Code)
	}
	_, again := isTemporary(err)
	return again
}

func isUnreachable(err error) bool {
	failed, ok := errors.AsType[net.Error](err) // every error of http.Client is one
	_, noConnection := errors.AsType[*net.OpError](err)
	return noConnection || ok && failed.Timeout()
}

// failed returns the error of a request, and in a second line what to do about it. The functions of
// k8s.io/apimachinery/pkg/api/errors know it.
func (c *Client) failed(verb, path string, err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err
	}
	remedy := c.remedy(verb, path, err)
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		err = fmt.Errorf("%w (%d)", err, status.ErrStatus.Code)
	}
	err = fmt.Errorf("%s: cannot %s: %w", path, verb, err)
	if remedy != "" {
		err = fmt.Errorf("%w\n%s", err, remedy)
	}
	return err
}

func (c *Client) remedy(verb, path string, err error) string {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case apierrors.IsForbidden(err):
		return allow(verb, path, err)
	case apierrors.IsUnauthorized(err):
		return "the API server does not accept these credentials: log in again, or choose others with --context or --kubeconfig"
	case apierrors.IsResourceExpired(err):
		return "the API server forgot the list before it was read to its end: try again"
	case apierrors.IsNotFound(err) && detailsOf(err).Kind == "namespaces":
		return "create the namespace first, or name another one with -n"
	case apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err):
		return "this is not the API server of Kubernetes 1.16 or later, correct the server " + c.host + " in the kubeconfig"
	case untrusted:
		return "correct certificate-authority of the cluster in the kubeconfig, it did not issue the certificate of " + c.host
	case isUnreachable(err):
		return "start the API server " + c.host + " or the way to it, or choose another cluster with --context"
	case strings.HasPrefix(err.Error(), "getting credentials: "):
		return "run the exec plugin of the kubeconfig's user by hand to see why, or choose another user with --context"
	}
	return ""
}

// allow says what a Role or ClusterRole lacks. An admission plugin forbids as well, and then no
// role helps.
func allow(verb, path string, err error) string {
	details := detailsOf(err)
	if !strings.Contains(err.Error(), " cannot "+verb+" resource") || details.Kind == "" {
		return ""
	}
	text := fmt.Sprintf("allow %s of %s", verb, schema.GroupResource{Group: details.Group, Resource: details.Kind})
	if details.Name != "" {
		text += " with the resourceName " + details.Name
	}
	_, below, namespaced := strings.Cut(path, "/namespaces/")
	if !namespaced {
		return text + ", in a ClusterRole"
	}
	namespace, _, _ := strings.Cut(below, "/")
	return text + ", in a Role of the namespace " + namespace
}

func detailsOf(err error) metav1.StatusDetails {
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok && status.ErrStatus.Details != nil {
		return *status.ErrStatus.Details
	}
	return metav1.StatusDetails{}
}

// FieldConflicts returns the fields that another manager owns and to which a server-side apply
// gives another value; nil if err is something else. A cause has a field, such as
// .spec.conversion.strategy, and a message, such as conflict with "kubectl" using v1.
func FieldConflicts(err error) []metav1.StatusCause {
	var conflicts []metav1.StatusCause
	for _, cause := range detailsOf(err).Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflicts = append(conflicts, cause)
		}
	}
	return conflicts
}

// IsChanged reports whether the object is not, or is no longer, what the caller has read: read it
// again.
func IsChanged(err error) bool {
	return apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) && FieldConflicts(err) == nil
}
