package dashboard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/process"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

const (
	namespace, release = "webhookd", "webhookd"
	day                = 24 * time.Hour
)

// A replica is a webhookd with rules, CRDs, a certificate and a configuration file of its own.
type replica struct {
	*process.Process

	pod, dir string
}

// A fleet starts replicas of one program with certificates of one CA.
type fleet struct {
	t      *testing.T
	binary string
	ca     *tlstest.CA
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{t: t, binary: filepath.Join(t.TempDir(), "webhookd"), ca: tlstest.NewCA(t, "dashboard")}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-ldflags=-X main.version=test", "-o", f.binary, "./cmd/webhookd") //nolint:gosec // our own
	build.Dir = root()
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}

func root() string { return filepath.Join("..", "..") }

// start starts a replica with the rules of three examples, and with little memory for bodies.
func (f *fleet) start(pod string) *replica {
	f.t.Helper()
	r := &replica{pod: pod, dir: f.t.TempDir()}
	tlstest.WriteSecretDir(f.t, r.path("rules"), filesOf(f.t, "rules.yaml"))
	tlstest.WriteSecretDir(f.t, r.path("crds"), filesOf(f.t, "crd.yaml"))
	tlstest.WriteSecretDir(f.t, r.path("tls"), f.certificate(time.Now().Add(-60*day), 90*day))
	tlstest.WriteSecretDir(f.t, r.path("config"), configuration("info"))
	r.Process = process.Launch(f.t, process.Options{
		Binary: f.binary, Secret: r.path("tls"), Tolerated: tolerated(),
		Env: []string{"GOMEMLIMIT=128MiB", "TMPDIR=" + r.dir},
		Flags: []string{
			"--config=" + r.path("config", "config.yaml"), "--rules=" + r.path("rules"), "--crds=" + r.path("crds"),
			"--drain-delay=5s", "--max-body=12Mi", "--max-in-flight-bytes=24Mi",
		},
	})
	return r
}

func (r *replica) path(name ...string) string {
	return filepath.Join(append([]string{r.dir}, name...)...)
}

// certificate returns the files of a new one.
func (f *fleet) certificate(from time.Time, validity time.Duration) map[string][]byte {
	f.t.Helper()
	return f.ca.Issue(f.t, tlstest.Leaf{Hosts: []string{apiclient.ServiceHost, "127.0.0.1"}, NotBefore: from, NotAfter: from.Add(validity)}).Files()
}

// rotate replaces the certificate by a broken one, and that by a good one.
func (f *fleet) rotate(r *replica, broken time.Duration) {
	f.t.Helper()
	files := f.certificate(time.Now(), day)
	tlstest.SwapSecretDir(f.t, r.path("tls"), map[string][]byte{"tls.crt": files["tls.crt"], "tls.key": {}})
	wait.For(f.t, broken)
	tlstest.SwapSecretDir(f.t, r.path("tls"), f.certificate(time.Now().Add(-time.Minute), 90*day))
}

// edit changes a text in the rules of an example, as the kubelet changes a mounted ConfigMap.
func (r *replica) edit(t *testing.T, example, old, with string) {
	t.Helper()
	files := filesOf(t, "rules.yaml")
	name := example + ".yaml"
	text := string(files[name])
	if !strings.Contains(text, old) {
		t.Fatalf("the rules of %s have no %q", example, old)
	}
	files[name] = []byte(strings.Replace(text, old, with, 1))
	tlstest.SwapSecretDir(t, r.path("rules"), files)
	r.Signal(syscall.SIGHUP) // do not wait for the next poll
}

// configure replaces the configuration file.
func (r *replica) configure(t *testing.T, logLevel string) {
	t.Helper()
	tlstest.SwapSecretDir(t, r.path("config"), configuration(logLevel))
	r.Signal(syscall.SIGHUP)
}

func configuration(level string) map[string][]byte {
	return map[string][]byte{"config.yaml": []byte("log-level: " + level + "\n")}
}

func read(t *testing.T, path ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root()}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// filesOf returns a file of each of three examples, under the example's name.
func filesOf(t *testing.T, name string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, example := range []string{"crontab-rules", "labels", "widget"} {
		files[example+".yaml"] = read(t, "examples", example, name)
	}
	return files
}

// tolerated are parts of the log lines about what the test does wrong.
func tolerated() []string {
	return []string{
		`"msg":"review failed"`, `"msg":"body rejected"`, "TLS handshake error", "rules cannot be used", "certificate on disk cannot be used", "copy of their CRD lacks", "expression reached its cost limit",
	}
}
