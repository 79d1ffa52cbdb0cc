package crdwire

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The defaults of a Target.
const (
	DefaultPort = 443
	DefaultPath = "/crdconvert"
)

// A Target is where a CRD sends its conversions: a Service, or a URL.
type Target struct {
	Namespace, Name string
	Port            int
	Path            string
	URL             string // instead of all the others
}

// ParseService reads NAMESPACE/NAME.
func ParseService(text string) (Target, error) {
	namespace, name, _ := strings.Cut(text, "/")
	if len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1035Label(name)) > 0 {
		return Target{}, fmt.Errorf("%q: not a Service, write NAMESPACE/NAME", text)
	}
	return Target{Namespace: namespace, Name: name, Port: DefaultPort, Path: DefaultPath}, nil
}

// ParseURL reads the URL of a webhook outside the cluster. The API server accepts https with a host
// and a path only.
func ParseURL(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Target{}, fmt.Errorf("not a URL: %w", err)
	}
	if u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return Target{}, errors.New("not a URL that the API server calls, write https://HOST[:PORT]/PATH without user, query and fragment")
	}
	return Target{URL: text}, nil
}

// targetOf returns the webhook of a conversion; false without one.
func targetOf(c *apiextensionsv1.CustomResourceConversion) (Target, bool) {
	if c == nil || c.Strategy != apiextensionsv1.WebhookConverter || c.Webhook == nil || c.Webhook.ClientConfig == nil {
		return Target{}, false
	}
	config := c.Webhook.ClientConfig
	if config.URL != nil {
		return Target{URL: *config.URL}, true
	}
	if config.Service == nil {
		return Target{}, false
	}
	t := Target{Namespace: config.Service.Namespace, Name: config.Service.Name, Port: DefaultPort}
	if config.Service.Port != nil {
		t.Port = int(*config.Service.Port)
	}
	if config.Service.Path != nil {
		t.Path = *config.Service.Path
	}
	return t, true
}

// IsService reports whether the target is a Service.
func (t Target) IsService() bool { return t.URL == "" }

// Same reports whether both are the same Service, at any port and path, or the same URL.
func (t Target) Same(other Target) bool {
	return t.URL == other.URL && t.Namespace == other.Namespace && t.Name == other.Name
}

// String returns the URL, or Service NAMESPACE/NAME.
func (t Target) String() string {
	if t.URL != "" {
		return t.URL
	}
	return "Service " + t.Namespace + "/" + t.Name
}

// Address returns the URL, or NAMESPACE/NAME:PORT/PATH of the Service.
func (t Target) Address() string {
	if t.URL != "" {
		return t.URL
	}
	return fmt.Sprintf("%s/%s:%d%s", t.Namespace, t.Name, t.Port, t.Path)
}

// ServerName returns the name that the API server verifies.
func (t Target) ServerName() string {
	if t.URL == "" {
		return t.Name + "." + t.Namespace + ".svc"
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// Unreachable says why an API server is unlikely to reach the host of a URL, or nothing.
func (t Target) Unreachable() string {
	host := strings.TrimSuffix(t.ServerName(), ".")
	ip := net.ParseIP(host)
	switch {
	case t.IsService():
	case host == "localhost", strings.HasSuffix(host, ".localhost"), ip != nil && ip.IsLoopback():
		return "the API server connects to its own host there: write the address of webhookd as the API server sees it"
	case strings.HasSuffix(host, ".svc"), strings.HasSuffix(host, ".svc.cluster.local"):
		return "the API server seldom resolves names of the cluster's DNS: name the Service with --service"
	}
	return ""
}

// requestURL returns the URL that the API server posts to.
func (t Target) requestURL() string {
	if t.URL != "" {
		return t.URL
	}
	path := t.Path
	if path == "" {
		path = "/"
	}
	return "https://" + net.JoinHostPort(t.ServerName(), strconv.Itoa(t.Port)) + path
}

// conversion returns spec.conversion for this target.
func (t Target) conversion(reviewVersions []string, bundle []byte) *apiextensionsv1.CustomResourceConversion {
	client := &apiextensionsv1.WebhookClientConfig{CABundle: bundle}
	if t.IsService() {
		port := int32(t.Port) //nolint:gosec // checked by the caller
		client.Service = &apiextensionsv1.ServiceReference{Namespace: t.Namespace, Name: t.Name, Path: &t.Path, Port: &port}
	} else {
		client.URL = &t.URL
	}
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: client, ConversionReviewVersions: reviewVersions},
	}
}
