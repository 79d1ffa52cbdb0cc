package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

const (
	timeout   = 15 * time.Second // of one request
	longest   = 70 * time.Second // of one that waits for a webhook: more than --request-timeout
	attempts  = 5
	firstWait = 200 * time.Millisecond // doubled for each attempt
	maxWait   = 5 * time.Second

	tokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path
)

// A Client calls one API server. Safe for concurrent use.
type Client struct {
	// InCluster says that this process runs in a pod of the cluster.
	InCluster bool

	rest     rest.Interface
	config   *rest.Config
	host     string // for messages
	patience time.Duration
	once     bool // each request is sent once
}

// Patient returns a client that tries a request again for that long while the API server cannot be
// reached, is overloaded or restarts ([IsUnavailable]). Without it, that is some seconds.
func (c *Client) Patient(d time.Duration) *Client {
	patient := *c
	patient.patience = d
	return &patient
}

// DryRun makes a change one that the API server checks, admission included, and does not store.
func DryRun(r *rest.Request) { r.Param("dryRun", metav1.DryRunAll) }

// New returns a Client. It reads the kubeconfig and connects to nothing yet.
func New(o Options) (*Client, error) {
	config, err := o.loader().ClientConfig()
	if err != nil {
		return nil, o.explain(err)
	}
	config.UserAgent = o.UserAgent
	config.Timeout = timeout
	config.QPS = -1 // a run has few requests
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme() // only metav1.Status is decoded
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON
	if o.Transport != nil {
		config.Wrap(func(http.RoundTripper) http.RoundTripper { return o.Transport })
	}
	c, err := newClient(config)
	return c, o.explain(err)
}

func newClient(config *rest.Config) (*Client, error) {
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Client{InCluster: config.BearerTokenFile == tokenFile, rest: client, config: config, host: config.Host}, nil
}

// NewConnection calls a function with a client that has a connection of its own. Behind a load
// balancer it may lead to another API server.
func (c *Client) NewConnection(use func(*Client) error) error {
	config := rest.CopyConfig(c.config)
	var dialer net.Dialer
	config.Dial = dialer.DialContext // transports are shared by all clients with the same function
	fresh, err := newClient(config)
	if err != nil {
		return err
	}
	if client, ok := fresh.rest.(*rest.RESTClient); ok {
		defer client.Client.CloseIdleConnections()
	}
	return use(fresh)
}

// Get reads the object at a path, such as /api/v1/namespaces/NAMESPACE/secrets/NAME, into a value
// for encoding/json.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.do(ctx, c.rest.Get(), "get", path, nil, into)
}

// Create adds an object to a collection.
func (c *Client) Create(ctx context.Context, path string, object any) error {
	return c.do(ctx, c.rest.Post().SetHeader("Content-Type", runtime.ContentTypeJSON), "create", path, object, nil)
}

// MergePatch changes an object by a JSON merge patch (RFC 7386), and reads the answer into a value
// that may be nil. If the patch has a metadata.resourceVersion and the object has changed since,
// the error is one of IsChanged. An option is DryRun.
func (c *Client) MergePatch(ctx context.Context, path string, patch, into any, options ...func(*rest.Request)) error {
	r := c.rest.Patch(types.MergePatchType)
	for _, option := range options {
		option(r)
	}
	return c.do(ctx, r, "patch", path, patch, into)
}

// Apply changes an object by server-side apply: manager then owns exactly the fields in config, and
// the fields that it owned before and that config lacks are removed. If another manager owns one
// with another value, the error has FieldConflicts, unless force takes the fields.
// metadata.resourceVersion works as with MergePatch.
func (c *Client) Apply(ctx context.Context, path, manager string, force bool, config any) error {
	r := c.rest.Patch(types.ApplyYAMLPatchType).
		Param("fieldManager", manager).Param("force", strconv.FormatBool(force)).Param("fieldValidation", metav1.FieldValidationStrict)
	return c.do(ctx, r, "patch", path, config, nil)
}

// do sends a request until it succeeds, fails for good, or has failed too often. Every request may
// be sent again: a second create finds the object, and a second change with a resourceVersion finds
// that the object has changed.
func (c *Client) do(ctx context.Context, r *rest.Request, verb, path string, body, into any) error {
	r.AbsPath(path).MaxRetries(0) // these would not cover an API server that cannot be reached
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("%s: cannot encode the request: %w", path, err)
		}
		r.Body(text)
	}
	ctx = klog.NewContext(ctx, klog.Logger{}) // the error says it all
	begin, wait := time.Now(), firstWait
	for attempt := 1; ; attempt++ {
		result := r.Do(ctx)
		text, err := result.Raw()
		if err == nil && into != nil {
			if err := json.Unmarshal(text, into); err != nil {
				return fmt.Errorf("%s: cannot read the answer: %w", path, err)
			}
		}
		if err == nil {
			return nil
		}
		err = result.Error()
		retryAfter, again := isTemporary(err)
		patient := IsUnavailable(err) && time.Since(begin) < c.patience
		if !again || c.once || attempt >= attempts && !patient || ctx.Err() != nil {
			return c.failed(verb, path, err)
		}
		select {
		case <-time.After(max(wait, min(retryAfter, maxWait))):
		case <-ctx.Done():
			return c.failed(verb, path, err)
		}
		wait = min(2*wait, maxWait)
	}
}
