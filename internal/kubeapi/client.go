package kubeapi

import (
	"bytes"
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
	maxAnswer = 64 << 20 // bytes; a page of the largest CRDs has a quarter of it
	pageSize  = "50"
	lists     = 3 // that may expire
)

// A Client calls one API server. Safe for concurrent use.
type Client struct {
	base      *url.URL
	http      *http.Client
	tokenFile string
	userAgent string
}

// New returns a Client. It reads the CA file, and nothing else yet.
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
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	return &Client{
		base:      base,
		tokenFile: c.TokenFile,
		userAgent: c.UserAgent,
		http: &http.Client{
			Timeout:       c.Timeout,
			Transport:     &http.Transport{TLSClientConfig: config, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Get reads the object at a path, such as /api/v1/namespaces/NAMESPACE/secrets/NAME, into a value that encoding/json can fill.
func (c *Client) Get(ctx context.Context, path string, into any) error {
	return c.call(ctx, request{verb: "get", method: http.MethodGet, path: path}, into)
}

// List calls begin, and then add with each object of a collection. A list that expires before its last page has been read begins
// again, with another call of begin, at which the caller forgets what was added: objects may have gone. The error of a list that
// expires again and again is one of IsExpired.
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

// pages reads a list once. What expires is what the API server keeps a list by, a version that etcd forgets after minutes; that
// of an answer without a token to go on by is something else.
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

// Create adds an object to a collection. The answer is read into a value that may be nil.
func (c *Client) Create(ctx context.Context, path string, object, into any) error {
	return c.call(ctx, request{verb: "create", method: http.MethodPost, path: path, contentType: "application/json", body: object}, into)
}

// MergePatch changes an object by a JSON merge patch (RFC 7386). With metadata.resourceVersion in it, it fails with an error
// of which IsChanged is true if somebody has changed the object in the meantime.
func (c *Client) MergePatch(ctx context.Context, path string, patch, into any) error {
	return c.call(ctx, request{verb: "patch", method: http.MethodPatch, path: path, contentType: "application/merge-patch+json", body: patch}, into)
}

// Apply changes an object by server-side apply: manager owns exactly the fields in config from then on, and those that it
// owned before and that are not in config are removed. If another manager owns one with another value, the error has
// FieldConflicts, unless force takes them. metadata.resourceVersion works as with MergePatch.
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

// call sends a request until it succeeds, fails for good, or has failed too often. Every request may be sent again: a second
// create finds that there is an object, and a second change with a resourceVersion that it is another one.
func (c *Client) call(ctx context.Context, r request, into any) error {
	var text []byte
	if r.body != nil {
		var err error
		if text, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("cannot encode what is to be sent: %w: %s", err, r.path)
		}
	}
	wait := firstWait
	for attempt := 1; ; attempt++ {
		body, after, err := c.once(ctx, r, text)
		if err == nil {
			return decode(body, r.path, into)
		}
		if attempt == attempts || !passing(err) || ctx.Err() != nil {
			return err
		}
		pause := min(max(wait, after), maxWait)
		wait *= 2
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

func decode(body []byte, path string, into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("API server: answer that cannot be read: %w: %s", err, path)
	}
	return nil
}

// A cutError is that of an answer that has begun and does not come to its end.
type cutError struct{ error }

func (e cutError) Unwrap() error { return e.error }

// passing reports whether an error may be over in a moment: the API server is overloaded, restarts or cannot be reached.
func passing(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	if !ok {
		_, cut := errors.AsType[cutError](err)
		_, unreachable := errors.AsType[*url.Error](err)
		_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
		return cut || unreachable && !untrusted
	}
	switch status.Code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// once sends a request. Where the API server says when to come again, after is that.
func (c *Client) once(ctx context.Context, r request, text []byte) (body []byte, after time.Duration, err error) {
	target := *c.base
	target.Path += r.path
	target.RawQuery = r.query.Encode()
	q, err := http.NewRequestWithContext(ctx, r.method, target.String(), bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
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
			return nil, 0, fmt.Errorf("token for the API server cannot be read: %w: %s", err, c.tokenFile)
		}
		q.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	w, err := c.http.Do(q)
	if err != nil {
		return nil, 0, fmt.Errorf("API server: cannot %s: %w", r.verb, err)
	}
	defer w.Body.Close()
	body, err = io.ReadAll(io.LimitReader(w.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("API server: cannot %s: %w: %s", r.verb, cutError{err}, r.path)
	case len(body) > maxAnswer:
		return nil, 0, fmt.Errorf("API server: answer has more than %d bytes: %s", maxAnswer, r.path)
	case w.StatusCode < 200 || w.StatusCode > 299:
		if seconds, err := strconv.Atoi(w.Header.Get("Retry-After")); err == nil && seconds > 0 {
			after = time.Duration(min(seconds, 60)) * time.Second
		}
		return nil, after, statusError(r.verb, r.path, w.StatusCode, body)
	}
	return body, 0, nil
}
