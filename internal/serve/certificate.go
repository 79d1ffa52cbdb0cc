package serve

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/crdconvert/webhookd/internal/config"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// A certificateSource is where the certificate comes from. For a self-signed one caFile is a file
// with which clients can verify it; it is empty if none could be written.
type certificateSource struct {
	*tlsreload.Source

	caFile string
}

func openSource(ctx context.Context, c config.Config, hooks tlsreload.Hooks) (*certificateSource, error) {
	if !c.SelfSigned {
		source, err := tlsreload.Open(ctx, tlsreload.Options{
			Dir:          c.TLSDir,
			Static:       c.TLSStatic,
			ClientCAFile: c.ClientCAFile,
			ClientNames:  c.ClientNames,
			PollInterval: c.TLSPollInterval,
			Hooks:        hooks,
		})
		return &certificateSource{Source: source}, err
	}
	var hosts []string
	if host := listenHost(c.Listen); host != "" {
		hosts = []string{host}
	}
	source, err := tlsreload.SelfSigned(hosts, time.Now(), hooks)
	if err != nil {
		return nil, err
	}
	return &certificateSource{Source: source, caFile: writeCA(source.CABundle())}, nil
}

// listenHost returns the host of a listen address, empty for one that means all of them.
func listenHost(listen string) string {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return ""
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.IsUnspecified() {
		return ""
	}
	return host
}

// writeCA puts the bundle into a file of its own. That it cannot, on a read-only file system, is no
// reason not to serve.
func writeCA(bundle []byte) string {
	dir, err := os.MkdirTemp("", "webhookd-")
	if err != nil {
		return ""
	}
	file := filepath.Join(dir, "ca.crt")
	if err := os.WriteFile(file, bundle, 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return ""
	}
	return file
}

// discard removes what openSource wrote.
func (s *certificateSource) discard() {
	if s.caFile != "" {
		_ = os.RemoveAll(filepath.Dir(s.caFile))
	}
}
