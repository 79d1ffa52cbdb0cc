package kubeapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// The files of a pod's ServiceAccount.
const (
	InClusterTokenFile = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // a path
	InClusterCAFile    = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
)

// DefaultTimeout is the limit for one request.
const DefaultTimeout = 15 * time.Second

// A Config has the address of the API server and the identity of the client.
type Config struct {
	// Server is its URL: https://10.96.0.1:443, or http://127.0.0.1:8001 for kubectl proxy.
	Server string
	// TokenFile holds the bearer token. Each request reads it, since the kubelet renews it. Empty
	// means none.
	TokenFile string
	// CAFile holds, in PEM, the CAs that verify the API server. Empty means those of the system.
	CAFile string
	// Timeout of one request; 0 means DefaultTimeout.
	Timeout time.Duration
	// UserAgent names the program in the API server's audit log.
	UserAgent string
}

// ErrNotInCluster is returned by InCluster outside of a pod.
var ErrNotInCluster = errors.New("not in a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set")

// InCluster returns the Config of a pod from its environment, in the form of os.Environ.
func InCluster(environ []string) (Config, error) {
	var host, port string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "KUBERNETES_SERVICE_HOST":
			host = value
		case "KUBERNETES_SERVICE_PORT":
			port = value
		}
	}
	if host == "" || port == "" {
		return Config{}, ErrNotInCluster
	}
	return Config{
		Server:    "https://" + net.JoinHostPort(host, port),
		TokenFile: InClusterTokenFile,
		CAFile:    InClusterCAFile,
	}, nil
}

// parseServer checks the URL of the API server. A token goes in the clear to this host only.
func parseServer(server string, token bool) (*url.URL, error) {
	u, err := url.Parse(server)
	switch {
	case err != nil:
		return nil, fmt.Errorf("not the URL of an API server: %w", err)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
		return nil, fmt.Errorf("not the URL of an API server, write https://HOST:PORT: %q", server)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the URL of the API server has more than https://HOST:PORT/PATH, remove user, query and fragment")
	case u.Scheme == "http" && token && !isLoopback(u.Hostname()):
		return nil, fmt.Errorf("a token would be sent in the clear, write https: %q", server)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
