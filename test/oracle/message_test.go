package oracle_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// A failure is a class of failure and what the user reads of it.
type failure struct {
	name   string
	server func(t *testing.T, s *setup)
	hook   func(h *apiclient.Hook)
	client func(a *apiclient.Server)
	gk     schema.GroupKind
	in     func(t *testing.T) runtime.Object
	to     string
	// want is the text; PORT is a port of loopback and SIZE that of a body. One of ends
	// follows.
	want   string
	ends   []string
	logged bool // by net/http, on the server
}

// at makes the in of an object of a made-up kind.
func at(kind, version string) func(t *testing.T) runtime.Object {
	return func(t *testing.T) runtime.Object {
		t.Helper()
		return named(t, group+"/"+version, kind, "a")
	}
}

// listOf makes the in of a list of v1 objects of a made-up kind, one for each letter.
func listOf(kind, names string) func(t *testing.T) runtime.Object {
	return func(t *testing.T) runtime.Object {
		t.Helper()
		l := list(group+"/v2", kind)
		for _, name := range names {
			l.Items = append(l.Items, *named(t, group+"/v1", kind, string(name)))
		}
		return l
	}
}

// failing are the kinds whose conversion goes wrong.
func failing() []converters.Kind {
	return []converters.Kind{
		plain(),
		newKind("Refused", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			name, err := obj.Get("metadata", "name")
			if text, _ := name.Str(); err == nil && text != "b" {
				err = &jsondoc.PathError{Problem: "has no place in v2, remove it", Path: ".spec.replicas"}
			}
			return err
		}),
		newKind("Panicking", func(context.Context, *jsondoc.Object, string, string) error { panic("a secret") }),
		newKind("Renaming", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return errors.Join(set(obj, `"b"`, "metadata", "name"), set(obj, `["a"]`, "metadata", "finalizers"))
		}),
		newKind("Mislabelling", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return set(obj, `"no label"`, "metadata", "labels", "app")
		}),
		newKind("Misannotating", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return set(obj, `"x"`, "metadata", "annotations", "no name")
		}),
		newKind("Slow", func(ctx context.Context, _ *jsondoc.Object, _, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}),
		newKind("SlowAtFirst", func(ctx context.Context, obj *jsondoc.Object, _, _ string) error {
			if name, _ := obj.Get("metadata", "name"); string(name.Text()) == `"a"` {
				<-ctx.Done()
			}
			return nil
		}),
	}
}

// failures are the classes of failure. The documentation quotes their texts.
func failures() []failure {
	failed := func(version, kind string) string {
		return "conversion webhook for " + group + "/" + version + ", Kind=" + kind + " failed: "
	}
	const outOfTime = "deadline of the request exceeded, make the converter faster or raise request-timeout up to 30 s"
	const call = `Post "https://webhookd.crdconvert.svc:443/crdconvert?timeout=30s": `
	shortTime := func(_ *testing.T, s *setup) { s.limits.Timeout = time.Second }
	return []failure{
		// What the converter says.
		{
			name: "converter error", gk: madeUp("Refused"), in: at("Refused", "v1"), to: "v2",
			want: failed("v1", "Refused") + "objects[0] Refused default/a v1 -> v2: has no place in v2, remove it: .spec.replicas",
		},
		{
			name: "converter errors in a list", gk: madeUp("Refused"), in: listOf("Refused", "abc"), to: "v2",
			want: failed("v2", "RefusedList") + "2 of 3 objects cannot be converted: " +
				"objects[0] Refused default/a v1 -> v2: has no place in v2, remove it: .spec.replicas; " +
				"objects[2] Refused default/c v1 -> v2: has no place in v2, remove it: .spec.replicas",
		},
		{
			name: "panic", gk: madeUp("Panicking"), in: at("Panicking", "v1"), to: "v2",
			want: failed("v1", "Panicking") + "objects[0] Panicking default/a v1 -> v2: converter panicked, " +
				"see the log of webhookd for the stack and fix the converter",
		},
		{
			name: "metadata changed", gk: madeUp("Renaming"), in: at("Renaming", "v1"), to: "v2",
			want: failed("v1", "Renaming") + "objects[0] Renaming default/a v1 -> v2: " +
				guardMessage + ": .metadata.name, .metadata.finalizers",
		},
		{
			name: "invalid label", gk: madeUp("Mislabelling"), in: at("Mislabelling", "v1"), to: "v2",
			want: failed("v1", "Mislabelling") + "objects[0] Mislabelling default/a v1 -> v2: " +
				"converter set an invalid entry (a valid label must be an empty string or consist of alphanumeric characters, " +
				"'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " +
				"'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')), fix the converter: " +
				".metadata.labels.app",
		},
		{
			name: "invalid annotation", gk: madeUp("Misannotating"), in: at("Misannotating", "v1"), to: "v2",
			want: failed("v1", "Misannotating") + "objects[0] Misannotating default/a v1 -> v2: " +
				"converter set an invalid entry (name part must consist of alphanumeric characters, '-', '_' or '.', and must " +
				"start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " +
				"validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')), fix the converter: " +
				`.metadata.annotations["no name"]`,
		},
		{
			name: "deadline within a converter", server: shortTime, gk: madeUp("Slow"), in: at("Slow", "v1"), to: "v2",
			want: failed("v1", "Slow") + "objects[0] Slow default/a v1 -> v2: " + outOfTime,
		},
		{
			name: "deadline before an object", server: shortTime, gk: madeUp("SlowAtFirst"), in: listOf("SlowAtFirst", "ab"), to: "v2",
			want: failed("v2", "SlowAtFirstList") + "1 of 2 objects cannot be converted: objects[1] SlowAtFirst default/b v1 -> v2: " +
				outOfTime,
		},
		// What the registry does not know.
		{
			name: "unknown kind", gk: madeUp("Unknown"), in: at("Unknown", "v1"), to: "v2",
			want: failed("v1", "Unknown") + "objects[0] Unknown default/a v1 -> v2: " +
				"no converter for " + madeUp("Unknown").String() + ", add rules for it or compile one in: .kind",
		},
		{
			name: "unknown source version", gk: madeUp("Plain"), in: at("Plain", "v9"), to: "v2",
			want: failed("v9", "Plain") + "objects[0] Plain default/a v9 -> v2: " +
				"no converter for version v9, use one of v1, v2, v3: .apiVersion",
		},
		{
			name: "unknown target version", gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v9",
			want: failed("v1", "Plain") + "objects[0] Plain default/a v1 -> v9: " +
				"no converter for version v9, use one of v1, v2, v3: .request.desiredAPIVersion",
		},
		// What the server refuses; a 429 is in overload_test.go.
		{
			name: "body larger than max-body", server: func(_ *testing.T, s *setup) { s.limits.MaxBodyBytes = 100 },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + "request body of SIZE bytes is larger than webhookd accepts: max-body is 100 bytes",
		},
		{
			name: "body larger than the byte budget", server: func(_ *testing.T, s *setup) { s.limits.InFlightBytes = 400 },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + "request body of SIZE bytes is larger than webhookd's in-flight byte budget leaves for " +
				"one request, which is 300 bytes: give it more memory or raise max-in-flight-bytes",
		},
		{
			name: "wrong path in the CRD", hook: func(h *apiclient.Hook) { h.Path = "/convert" },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + `webhookd serves nothing at this path; check the path in the CRD's clientConfig: "/convert"`,
		},
		{
			name: "defect of webhookd", server: func(_ *testing.T, s *setup) {
				s.review.ReviewDone = func(context.Context, review.Result) { panic("a secret") }
			},
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + "webhookd panicked; its log has the stack",
		},
		// What the client says when it gets no answer.
		{
			name: "no such Service", client: func(a *apiclient.Server) { a.Endpoint = nil },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + call + `service "webhookd" not found`,
		},
		{
			name: "no server listens", client: func(a *apiclient.Server) { a.Endpoint = func() string { return "127.0.0.1:1" } },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: failed("v1", "Plain") + call + "dial tcp 127.0.0.1:PORT: connect: connection refused",
		},
		{
			name: "answer too late", client: func(a *apiclient.Server) { a.Timeout = 500 * time.Millisecond },
			// The server has the same half second and gives up after half of it, unlike this
			// converter.
			server: func(t *testing.T, s *setup) {
				t.Helper()
				held := make(chan struct{})
				time.AfterFunc(2*time.Second, func() { close(held) })
				s.kinds = append(s.kinds, newKind("Stuck", func(context.Context, *jsondoc.Object, string, string) error {
					<-held
					return nil
				}))
			},
			gk: madeUp("Stuck"), in: at("Stuck", "v1"), to: "v2",
			want: failed("v1", "Stuck") + strings.Replace(call, "30s", "500ms", 1), ends: timeouts(),
		},
		// What the client says of the certificate.
		{
			name: "caBundle of another CA", hook: func(h *apiclient.Hook) { h.CABundle = nil },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2", logged: true,
			want: failed("v1", "Plain") + call + "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		},
		{
			name: "certificate for other names", server: func(_ *testing.T, s *setup) { s.hosts = []string{"webhookd", "webhookd.crdconvert"} },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2", logged: true,
			want: failed("v1", "Plain") + call + "tls: failed to verify certificate: x509: certificate is valid for webhookd, " +
				"webhookd.crdconvert, not webhookd.crdconvert.svc",
		},
		{
			name: "client-ca-file set", server: func(t *testing.T, s *setup) {
				t.Helper()
				s.clientCA = filepath.Join(t.TempDir(), "ca.crt")
				if err := os.WriteFile(s.clientCA, tlstest.NewCA(t, "clients").PEM, 0o600); err != nil {
					t.Fatal(err)
				}
			},
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2", logged: true,
			want: failed("v1", "Plain") + call, ends: []string{
				"remote error: tls: certificate required",
				"readLoopPeekFailLocked: remote error: tls: certificate required",
				// Where the alert and the end of the connection arrive at once.
				"read tcp 127.0.0.1:PORT->127.0.0.1:PORT: read: connection reset by peer",
				"write tcp 127.0.0.1:PORT->127.0.0.1:PORT: write: broken pipe",
				"write tcp 127.0.0.1:PORT->127.0.0.1:PORT: write: connection reset by peer",
			},
		},
		// What the client refuses to send.
		{
			name: "no known conversionReviewVersions", hook: func(h *apiclient.Hook) { h.Reviews = []string{"v7"} },
			gk: madeUp("Plain"), in: at("Plain", "v1"), to: "v2",
			want: "no supported conversion review versions",
		},
	}
}

// TestMessages holds what the user reads of each class of failure, letter for letter.
func TestMessages(t *testing.T) {
	t.Parallel()
	ports, sizes := regexp.MustCompile(`127\.0\.0\.1:\d+`), regexp.MustCompile(`request body of \d+`)
	for _, f := range failures() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) {
				s.kinds = failing()
				if f.server != nil {
					f.server(t, s)
				}
			})
			for _, r := range []string{"v1", "v1beta1"} {
				a, h := w.client(), w.byService(r)
				if f.client != nil {
					f.client(a)
				}
				if f.hook != nil {
					f.hook(&h)
				}
				_, err := a.Converter(t, f.gk, append(madeUpVersions(), "v9"), h).To(f.in(t), f.to)
				if err == nil {
					t.Fatalf("%s: no error", r)
				}
				got := ports.ReplaceAllString(err.Error(), "127.0.0.1:PORT")
				got = sizes.ReplaceAllString(got, "request body of SIZE")
				if got = cutEnd(got, f.ends); got != f.want {
					t.Errorf("%s: the user reads\n%s\nwant\n%s", r, got, f.want)
				}
			}
			if !f.logged {
				w.noErrors()
			}
		})
	}
}

// timeouts are what the client says when its time is up: two of its timers run out at once.
func timeouts() []string {
	return []string{
		"context deadline exceeded",
		"context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		"net/http: request canceled (Client.Timeout exceeded while awaiting headers)",
	}
}

// cutEnd takes one of ends off a message.
func cutEnd(message string, ends []string) string {
	for _, end := range ends {
		if rest, found := strings.CutSuffix(message, `": `+end); found {
			return rest + `": `
		}
	}
	return message
}
