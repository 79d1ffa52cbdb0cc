package tlsreload

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// C5: the files are gone for ten minutes. There is one report, the old pair stays, and Run goes on.
func TestFilesGoneForTenMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		pair := ca.Issue(t, tlstest.Leaf{})
		dir := secretDir(t, pair)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		run(t, s)
		synctest.Wait()

		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		expectServed(t, s, pair)
		calls.expect(t, "reloaded", "failed")

		tlstest.WriteSecretDir(t, dir, pair.Files())
		pass(DefaultPollInterval)
		calls.expect(t, "reloaded", "failed", "recovered")

		next := ca.Issue(t, tlstest.Leaf{})
		tlstest.SwapSecretDir(t, dir, next.Files())
		pass(DefaultPollInterval)
		expectServed(t, s, next)
		calls.expect(t, "reloaded", "failed", "recovered", "reloaded")
	})
}

func TestNewReasonIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		pair, other := ca.Issue(t, tlstest.Leaf{}), ca.Issue(t, tlstest.Leaf{})
		dir := secretDir(t, pair)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		for _, files := range []map[string][]byte{
			{CertFile: pair.Cert},
			{CertFile: pair.Cert}, // another generation, the same problem
			{CertFile: pair.Cert, KeyFile: other.Key},
		} {
			tlstest.SwapSecretDir(t, dir, files)
			s.reload(t.Context())
		}
		calls.expect(t, "reloaded", "failed", "failed")
	})
}

// A parser that panics on the files, in Run or in the readiness check, ends nothing.
func TestParserPanicKeepsTheLastGoodPair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		good, hostile, next := ca.Issue(t, tlstest.Leaf{}), ca.Issue(t, tlstest.Leaf{}), ca.Issue(t, tlstest.Leaf{})
		dir := secretDir(t, good)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks(), parsePair: func(f *files) (*pair, error) {
			if bytes.Equal(f.cert, hostile.Cert) {
				panic("text of a certificate")
			}
			return parsePair(f)
		}})
		run(t, s)
		tlstest.SwapSecretDir(t, dir, hostile.Files())
		pass(2 * DefaultPollInterval)
		expectServed(t, s, good)
		calls.expect(t, "reloaded", "failed")
		if got, want := calls.lastReason(), dir+": the parser panicked with string, write the files again"; got != want {
			t.Errorf("reason %q, want %q", got, want)
		}

		tlstest.SwapSecretDir(t, dir, next.Files())
		pass(DefaultPollInterval)
		expectServed(t, s, next)
		calls.expect(t, "reloaded", "failed", "reloaded", "recovered")
	})
}

// C11: a plain folder.
func TestPlainFolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		pair := ca.Issue(t, tlstest.Leaf{})
		dir := t.TempDir()
		writePlain(t, dir, pair)

		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		run(t, s)
		next := ca.Issue(t, tlstest.Leaf{})
		writePlain(t, dir, next)
		pass(DefaultPollInterval + settleGap)
		expectServed(t, s, next)
		calls.expect(t, "reloaded", "reloaded")
		if got := s.Served(); got.Generation != "" {
			t.Errorf("generation of plain files: %q", got.Generation)
		}
	})
}

func TestPlainFilesMayBeLinks(t *testing.T) {
	t.Parallel()
	pair := tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{})
	elsewhere, dir := t.TempDir(), t.TempDir()
	writePlain(t, elsewhere, pair)
	for name := range pair.Files() {
		if err := os.Symlink(filepath.Join(elsewhere, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	expectServed(t, open(t, Options{Dir: dir}), pair)
}

// A chain that is cut between two certificates matches the key, and is not used.
func TestHalfWrittenChainIsNotUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		pair, dir := ca.Issue(t, tlstest.Leaf{}), t.TempDir()
		writePlain(t, dir, pair)
		s := open(t, Options{Dir: dir})
		run(t, s)
		synctest.Wait()
		next := ca.Issue(t, tlstest.Leaf{})
		writePlain(t, dir, next)
		pass(DefaultPollInterval + settleGap/2) // the leaf has been read once
		expectServed(t, s, pair)
		writeFile(t, filepath.Join(dir, CertFile), append(next.Files()[CertFile], ca.PEM...))
		pass(2 * settleGap)
		expectServed(t, s, next)
		if got := len(s.Certificate().Certificate); got != 2 {
			t.Errorf("%d certificates are served, want 2", got)
		}
	})
}

func TestServedDescribesThePair(t *testing.T) {
	t.Setenv("GODEBUG", "x509keypairleaf=0") // crypto/tls does not remember the leaf
	pair := tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{})
	t.Chdir(secretDir(t, pair))
	var got Event
	s := open(t, Options{Dir: ".", Hooks: Hooks{Reloaded: func(e Event) { got = e }}})
	if got != s.Served() {
		t.Errorf("hook got %+v, Served says %+v", got, s.Served())
	}
	if !got.NotBefore.Equal(pair.Leaf.NotBefore) || !got.NotAfter.Equal(pair.Leaf.NotAfter) {
		t.Errorf("validity: %s to %s", got.NotBefore, got.NotAfter)
	}
	if len(got.Fingerprint) != 64 || strings.ToLower(got.Fingerprint) != got.Fingerprint {
		t.Errorf("fingerprint is not lower-case SHA-256: %q", got.Fingerprint)
	}
	if !strings.HasPrefix(got.Generation, "..") {
		t.Errorf("generation %q", got.Generation)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "nowhere")
	want := missing + ": no such file or directory, mount the Secret with the certificate there, or set tls-dir to where it is"
	if _, err := Open(t.Context(), Options{Dir: missing}); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A pair that is replaced file by file at the start is used once it is whole.
func TestOpenWaitsForAMatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		old, next := ca.Issue(t, tlstest.Leaf{}), ca.Issue(t, tlstest.Leaf{})
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, CertFile), next.Cert)
		writeFile(t, filepath.Join(dir, KeyFile), old.Key)
		began := time.Now()
		if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "match") || time.Since(began) < matchTime {
			t.Errorf("error %v after %s", err, time.Since(began))
		}
		whole := filepath.Join(t.TempDir(), KeyFile)
		writeFile(t, whole, next.Key)
		time.AfterFunc(matchTime/2, func() {
			if err := os.Rename(whole, filepath.Join(dir, KeyFile)); err != nil {
				t.Error(err)
			}
		})
		expectServed(t, open(t, Options{Dir: dir}), next)
	})
}

// Nor does a later reading count whose context has ended.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := secretDir(t, tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{}))
	s := open(t, Options{Dir: dir})
	noError(t, os.RemoveAll(dir))
	if _, err := Open(ctx, Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	before := s.read.Load()
	if s.reload(ctx); s.read.Load() != before {
		t.Error("what was not read to its end is in force")
	}
}

// No allocation in a handshake means no clone, no read and no lock by accident.
func TestCertificateAllocatesNothing(t *testing.T) {
	s := open(t, Options{Dir: secretDir(t, tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{}))})
	get := s.TLSConfig().GetCertificate
	if n := testing.AllocsPerRun(100, func() {
		if _, err := get(nil); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("allocations: %v", n)
	}
}
