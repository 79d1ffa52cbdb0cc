package kubeapi

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	attempts  = 5
	firstWait = 200 * time.Millisecond // doubled for each attempt
	maxWait   = 5 * time.Second
	maxAnswer = 64 << 20 // bytes, four times a page of the largest CRDs
	pageSize  = "50"
	lists     = 3 // attempts at one that expires
)

// A Client calls one API server. Safe for concurrent use.
type Client struct {
	base      *url.URL
	http      *http.Client
	tokenFile string
	userAgent string
}

// New returns a Client. It reads the CA file and connects to nothing yet.
func New(c Config) (*Client, error) {
	base, err := parseServer(c.Server, c.TokenFile != "")
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CA of the API server: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("CA of the API server: no certificate in this file: %s", c.CAFile)
		}
	}
	return &Client{
		base:      base,
		tokenFile: c.TokenFile,
		userAgent: c.UserAgent,
		http: &http.Client{
			Timeout:       cmp.Or(c.Timeout, DefaultTimeout),
			Transport:     &http.Transport{TLSClientConfig: config, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads the object at a path, such as /api/v1/namespaces/NAMESPACE/secrets/NAME, into a value
// for encoding/json.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.call(ctx, request{verb: "get", method: http.MethodGet, path: path}, into)
}

// List calls begin, and then add with each object of a collection. A list that expires before its
// last page was read starts again with another call of begin, where the caller drops the objects so
// far: some may be gone. The error of a list that keeps expiring is one of IsExpired.
func (c *Client) List(ctx context.Context, path string, begin func(), add func(object json.RawMessage) error) error {
	for list := 1; ; list++ {
		begin()
		expired, err := c.pages(ctx, path, add)
		switch {
		case err == nil:
			return nil
		case !expired:
			return err
		case list == lists:
			return fmt.Errorf("list expired %d times before it was read to its end: %w", lists, err)
		}
	}
}

// pages reads a list once. The version that the API server lists expires when etcd forgets it,
// after minutes; an answer 410 to the first page is something else.
func (c *Client) pages(ctx context.Context, path string, add func(object json.RawMessage) error) (expired bool, err error) {
	query := url.Values{"limit": {pageSize}}
	for {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		if err := c.call(ctx, request{verb: "list", method: http.MethodGet, path: path, query: query}, &page); err != nil {
			return query.Has("continue") && IsExpired(err), err
		}
		for _, item := range page.Items {
			if err := add(item); err != nil {
				return false, err
			}
		}
		if page.Metadata.Continue == "" {
			return false, nil
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// Create adds an object to a collection, and reads the answer into a value that may be nil.
func (c *Client) Create(ctx context.Context, path string, object, into any) error {
	return c.call(ctx, request{verb: "create", method: http.MethodPost, path: path, contentType: "application/json", body: object}, into)
}

// MergePatch changes an object by a JSON merge patch (RFC 7386). If the patch has a
// metadata.resourceVersion and the object has changed since, the error is one of IsChanged.
func (c *Client) MergePatch(ctx context.Context, path string, patch, into any) error {
	return c.call(ctx, request{verb: "patch", method: http.MethodPatch, path: path, contentType: "application/merge-patch+json", body: patch}, into)
}

// Apply changes an object by server-side apply: manager then owns exactly the fields in config, and
// the fields that it owned before and that config lacks are removed. If another manager owns one
// with another value, the error has FieldConflicts, unless force takes the fields.
// metadata.resourceVersion works as with MergePatch.
func (c *Client) Apply(ctx context.Context, path, manager string, force bool, config, into any) error {
	query := url.Values{"fieldManager": {manager}, "force": {strconv.FormatBool(force)}, "fieldValidation": {"Strict"}}
	return c.call(ctx, request{
		verb: "patch", method: http.MethodPatch, path: path, query: query, contentType: "application/apply-patch+yaml", body: config,
	}, into)
}

type request struct {
	verb, method, path string
	query              url.Values
	contentType        string
	body               any
}

// call sends a request until it succeeds, fails for good, or has failed too often. Every request
// may be sent again: a second create finds the object, and a second change with a resourceVersion
// finds that the object has changed.
func (c *Client) call(ctx context.Context, r request, into any) error {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("cannot encode the request: %w: %s", err, r.path)
		}
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		body, retry, err := c.once(ctx, r, text)
		if err == nil && into != nil {
			if err = json.Unmarshal(body, into); err != nil {
				return fmt.Errorf("API server: cannot read the answer: %w: %s", err, r.path)
			}
		}
		if err == nil || retry < 0 || attempt == attempts || ctx.Err() != nil {
			return err
		}
		select {
		case <-time.After(min(max(wait, retry), maxWait)):
		case <-ctx.Done():
			return err
		}
		wait *= 2
	}
}

const never = time.Duration(-1)

// once sends a request. If it fails, retry is the time that the API server asks to wait, or never:
// another attempt makes sense if the API server is overloaded, restarts or cannot be reached.
func (c *Client) once(ctx context.Context, r request, text []byte) (body []byte, retry time.Duration, err error) {
	target := *c.base
	target.Path += r.path
	target.RawQuery = r.query.Encode()
	q, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(text))
	if err != nil {
		return nil, never, err
	}
	q.Header.Set("Accept", "application/json")
	if r.contentType != "" {
		q.Header.Set("Content-Type", r.contentType)
	}
	if c.userAgent != "" {
		q.Header.Set("User-Agent", c.userAgent)
	}
	if c.tokenFile != "" {
		token, err := os.ReadFile(c.tokenFile)
		if err != nil {
			if failed, ok := errors.AsType[*fs.PathError](err); ok {
				err = failed.Err
			}
			return nil, never, fmt.Errorf("token for the API server cannot be read: %w: %s", err, c.tokenFile)
		}
		q.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	w, err := c.http.Do(q)
	if err != nil {
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			retry = never
		}
		return nil, retry, fmt.Errorf("API server: cannot %s: %w", r.verb, err)
	}
	defer w.Body.Close()
	body, err = io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("API server: cannot %s: %w: %s", r.verb, err, r.path)
	case len(body) > maxAnswer:
		return nil, never, fmt.Errorf("API server: answer has more than %d bytes: %s", maxAnswer, r.path)
	case w.StatusCode >= 200 && w.StatusCode <= 299:
		return body, 0, nil
	}
	if seconds, err := strconv.Atoi(w.Header.Get("Retry-After")); err == nil && seconds > 0 {
		retry = time.Duration(min(seconds, 60)) * time.Second
	}
	switch w.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		retry = never
	}
	return nil, retry, statusError(r.verb, r.path, w.StatusCode, body)
}
