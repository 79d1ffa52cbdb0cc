// Package webhook answers ConversionReviews in a server or manager of your own.
//
// [New] returns an http.Handler for the path that the CRD's clientConfig names. It takes v1 and
// v1beta1, converts each object by the converter of its kind, keeps their order, refuses changes of
// metadata other than labels and annotations, and answers Success or Failed. It bounds the memory
// and the number of requests in progress, and ends what takes longer than the API server waits. TLS
// is the server's concern. It links no CEL, unless the kinds come from package conversion/rules.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/library"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
)

// Options limit and observe a [Handler]. The zero value of each field is its default.
type Options struct {
	// Timeout is the longest time for a review, and that of one without `?timeout=`. Default: 30 s,
	// the most that the API server allows.
	Timeout time.Duration
	// MaxBodyBytes is the size of the largest body. Default: 128 MiB.
	MaxBodyBytes int64
	// MaxInFlightBytes is the size of all bodies in progress together. Others wait for a second,
	// and are answered 429 then. Default: 60 % of the Go memory limit (GOMEMLIMIT), or 1 GiB
	// without one.
	MaxInFlightBytes int64
	// Failed is called for each review with an object that could not be converted, and for each
	// panic of a converter, to log it. It is called concurrently.
	Failed func(Failure)
}

// A Failure is what went wrong in a review. It has no value of an object.
type Failure struct {
	// UID is that of the review, in which the API server's audit log has it too.
	UID string
	// Kind is KIND.GROUP of the first object that needed a conversion, From and To are its
	// versions.
	Kind, From, To string
	// Message says which objects failed and why, as the client of the API server reads it, or which
	// type of value the converter panicked with.
	Message string
	// Stack is that of a panic, or empty.
	Stack string
}

// A Handler answers ConversionReviews. Make one with [New]. It is safe for concurrent use.
type Handler struct {
	handler  *server.Handler
	metrics  *metrics.Metrics
	registry atomic.Pointer[converters.Registry]
}

// New returns a Handler for the kinds of a registry. It fails without a registry, or for a negative
// limit.
func New(registry *conversion.Registry, opts Options) (*Handler, error) {
	if registry == nil {
		return nil, errors.New("webhook.New: no registry")
	}
	if problems := opts.problems(); len(problems) > 0 {
		return nil, errors.New("webhook.New: " + strings.Join(problems, ", "))
	}
	h := &Handler{metrics: metrics.NewEmbedded()}
	if err := h.SetRegistry(registry); err != nil {
		return nil, err
	}
	reviewer := review.NewReviewer(h.registry.Load, h.hooks(opts.Failed))
	h.handler = server.NewHandler(review.NewHandler(reviewer), opts.limits(), h.metrics.Server())
	h.metrics.WatchRequests(h.handler.Stats)
	return h, nil
}

// problems returns what is wrong with the options.
func (o *Options) problems() []string {
	var problems []string
	for _, option := range []struct {
		name  string
		value int64
	}{
		{"Timeout", int64(o.Timeout)},
		{"MaxBodyBytes", o.MaxBodyBytes},
		{"MaxInFlightBytes", o.MaxInFlightBytes},
	} {
		if option.value < 0 {
			problems = append(problems, "negative Options."+option.name)
		}
	}
	return problems
}

// limits returns the limits of the server's own package.
func (o *Options) limits() server.Limits {
	l := server.DefaultLimits()
	if o.Timeout != 0 {
		l.Timeout = o.Timeout
	}
	if o.MaxBodyBytes != 0 {
		l.MaxBodyBytes = o.MaxBodyBytes
	}
	l.InFlightBytes = o.MaxInFlightBytes
	return l
}

func (h *Handler) hooks(failed func(Failure)) review.Hooks {
	counted := h.metrics.Review()
	hooks := counted
	hooks.Reserve, hooks.Heavy, hooks.Settle, hooks.Yield, hooks.Hold = server.Reserve, server.Heavy, server.Settle, server.Yield, server.Hold
	if failed == nil {
		return hooks
	}
	hooks.ReviewDone = func(ctx context.Context, r review.Result) {
		counted.ReviewDone(ctx, r)
		if r.Failed > 0 || r.Message != "" {
			failed(Failure{UID: r.UID, Kind: r.Pair.Kind, From: r.Pair.From, To: r.Pair.To, Message: r.Message})
		}
	}
	hooks.Panicked = func(ctx context.Context, p review.Panic) {
		counted.Panicked(ctx, p)
		failed(Failure{
			UID: p.UID, Kind: p.Pair.Kind, From: p.Pair.From, To: p.Pair.To, Message: "a converter panicked: " + p.Type, Stack: p.Stack,
		})
	}
	return hooks
}

// SetRegistry replaces the kinds. Reviews in progress end with the kinds that they began with. It
// fails without a registry.
func (h *Handler) SetRegistry(registry *conversion.Registry) error {
	if registry == nil {
		return errors.New("webhook.Handler.SetRegistry: no registry")
	}
	kinds, err := converters.NewRegistry(library.Registered(registry)...)
	if err != nil {
		return fmt.Errorf("webhook.Handler.SetRegistry: %w", err)
	}
	h.registry.Store(kinds)
	return nil
}

// ServeHTTP implements http.Handler. It answers POST at any path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.handler.ServeHTTP(w, r) }

// Collector returns the metrics of the handler, whose names begin with webhookd_, for a Prometheus
// registry. They are those of webhookd's own server, without its listeners' and its process's.
func (h *Handler) Collector() prometheus.Collector { return h.metrics.Collector() }
