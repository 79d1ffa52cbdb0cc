package serve

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// A certificateSource provides the certificate. If it is self-signed, clients can verify it with
// caFile, which is empty if the file could not be written.
type certificateSource struct {
	*tlsreload.Source

	caFile string
}

func openSource(ctx context.Context, c config.Config, hooks tlsreload.Hooks) (*certificateSource, error) {
	if !c.SelfSigned {
		source, err := tlsreload.Open(ctx, tlsreload.Options{
			Dir:          c.TLSDir,
			ClientCAFile: c.ClientCAFile,
			ClientNames:  c.ClientNames,
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

// listenHost returns the host of a listen address, or "" if it means all addresses.
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

// writeCA writes the bundle to a new temporary file. It returns "" if it cannot, such as on a
// read-only file system, since the server can run without the file.
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

// discard removes the files that openSource wrote.
func (s *certificateSource) discard() {
	if s.caFile != "" {
		_ = os.RemoveAll(filepath.Dir(s.caFile))
	}
}
