package tlsreload

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// The file names of a kubernetes.io/tls Secret (corev1.TLSCertKey and corev1.TLSPrivateKeyKey).
const (
	CertFile = "tls.crt" // the leaf, then its intermediates, in PEM
	KeyFile  = "tls.key" // the leaf's private key, in PEM, not encrypted
)

// DefaultPollInterval is the time between two readings of the directory when nothing else asks
// for one.
const DefaultPollInterval = 5 * time.Second

// Options say where the key pair is and how it is followed. Only Dir is required.
type Options struct {
	// Dir holds tls.crt and tls.key, as a Secret volume mounts them.
	Dir string

	// Static allows a Dir without the ..data link of a volume: a plain folder, for local use. It
	// is polled and watched as well, so files replaced in place are picked up. It is an option
	// because a subPath mount looks the same, and never changes.
	Static bool

	// ClientCAFile, when set, makes every client present a certificate of one of the CAs in that
	// PEM file; the file is followed like the key pair. kube-apiserver presents no client
	// certificate to a conversion webhook and cannot be given one, so its calls fail. It is for
	// deployments behind a proxy that does present one.
	ClientCAFile string

	// ClientNames limits the clients to those whose certificate has one of these names as common
	// name, DNS or URI subject alternative name, compared exactly. Empty means any certificate of
	// the client CA.
	ClientNames []string

	// PollInterval is the time between two readings when neither the watch nor Expected asks for
	// one; 0 means DefaultPollInterval.
	PollInterval time.Duration

	// NoWatch leaves the directory watch out, and polling alone finds the changes.
	NoWatch bool

	// Now is the wall clock against which validity is judged, at every reading; nil means
	// time.Now.
	Now func() time.Time

	// Hooks are called when something happens.
	Hooks Hooks

	newNotifier func() (*notifier, error)
	parsePair   func(*files) (*pair, error) // nil means that of this package
	inside      bool                        // ClientCAFile is in Dir, so of the same generation
}

// validate reports every problem at once.
func (o *Options) validate() error {
	var problems []error
	if o.Dir == "" {
		problems = append(problems, errors.New("tls directory is not set"))
	}
	if o.PollInterval < 0 {
		problems = append(problems, fmt.Errorf("tls poll interval is negative: %s", o.PollInterval))
	}
	if len(o.ClientNames) > 0 && o.ClientCAFile == "" {
		problems = append(problems, errors.New("client names need a client CA file to be checked against"))
	}
	return errors.Join(problems...)
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
	d.inside = o.ClientCAFile != "" && sameDir(filepath.Dir(o.ClientCAFile), o.Dir)
	switch {
	case d.NoWatch:
		d.newNotifier = nil
	case d.newNotifier == nil:
		d.newNotifier = newFSNotifier
	}
	return d
}

func sameDir(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// watchedDirs lists the directories whose entries change when a file of ours does.
func (o *Options) watchedDirs() []string {
	if o.ClientCAFile == "" || o.inside {
		return []string{o.Dir}
	}
	return []string{o.Dir, filepath.Dir(o.ClientCAFile)}
}
