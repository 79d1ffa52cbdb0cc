package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/internal/review/apistatus"
)

const checkTimeout = 2 * time.Second

var errDraining = errors.New("the server is shutting down")

// A health answers the probes. Readiness says whether this replica should get reviews. Liveness
// says only that the process can answer: a restart would not fix a certificate.
type health struct {
	checks []Check
}

// serveLive answers that the process is alive.
func serveLive(w http.ResponseWriter, _ *http.Request) { writeText(w, "ok\n") }

// serveReady answers 200 if every check passes, and otherwise 503 with a Status that names the
// failing checks.
func (h *health) serveReady(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	var failed []string
	for _, c := range h.checks {
		if err := c.Check(ctx); err != nil {
			failed = append(failed, c.Name+": "+oneLine(err.Error()))
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	if len(failed) > 0 {
		apistatus.Write(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "not ready: "+strings.Join(failed, "; "))
		return
	}
	writeText(w, "ok\n")
}

func writeText(w http.ResponseWriter, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, text) // a client that has gone needs no answer
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", "; ") }
