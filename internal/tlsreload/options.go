package tlsreload

import (
	"cmp"
	"path/filepath"
	"time"
)

// File names of a kubernetes.io/tls Secret (corev1.TLSCertKey and corev1.TLSPrivateKeyKey).
const (
	CertFile = "tls.crt" // the leaf, then its intermediates, in PEM
	KeyFile  = "tls.key" // the leaf's private key, in PEM, not encrypted
)

// DefaultPollInterval is the time between two readings of the directory.
const DefaultPollInterval = 5 * time.Second

// Options say where the files are and how to follow them. Only Dir is required; ClientNames need a
// ClientCAFile. Neither is checked.
type Options struct {
	// Dir holds tls.crt and tls.key: a Secret volume, or a plain folder whose files are replaced in
	// place. A subPath mount looks like the latter, and never changes.
	Dir string

	// ClientCAFile, if set, requires every client to present a certificate of one of the CAs in
	// that PEM file, which is followed like the key pair. It is for deployments behind a proxy that
	// presents a certificate. kube-apiserver presents none to a conversion webhook, so its own
	// calls fail.
	ClientCAFile string

	// ClientNames limits the clients to those whose certificate has one of these names as common
	// name, DNS or URI subject alternative name, compared exactly. Empty allows any certificate of
	// the client CA.
	ClientNames []string

	// PollInterval is the time between two readings; 0 means DefaultPollInterval.
	PollInterval time.Duration

	// Now is the wall clock for validity checks; nil means time.Now.
	Now func() time.Time

	// Hooks report events; see [Hooks].
	Hooks Hooks

	parsePair func(*files) (*pair, error) // nil means the package's own
	inside    bool                        // ClientCAFile is in Dir, and so in the same generation
}

func (o *Options) withDefaults() Options {
	d := *o
	d.PollInterval = cmp.Or(d.PollInterval, DefaultPollInterval)
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.parsePair == nil {
		d.parsePair = parsePair
	}
	d.inside = o.ClientCAFile != "" && absolute(filepath.Dir(o.ClientCAFile)) == absolute(o.Dir)
	return d
}

func absolute(path string) string {
	abs, _ := filepath.Abs(path) // fails only in a folder that is gone
	return abs
}
