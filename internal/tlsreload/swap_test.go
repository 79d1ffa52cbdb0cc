package tlsreload

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// C2: a change is found within the poll interval.
func TestSwapFoundByPolling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		run(t, s)
		synctest.Wait()

		next := ca.Issue(t, tlstest.Leaf{})
		tlstest.SwapSecretDir(t, dir, next.Files())
		pass(DefaultPollInterval)
		expectServed(t, s, next)
		calls.expect(t, "reloaded", "reloaded")
	})
}

// C6: the two files are replaced one after the other, in place, so half of the time they do not
// belong together.
func TestFilesReplacedOneAfterTheOther(t *testing.T) {
	t.Parallel()
	const rounds, gap = 10, 10 * time.Millisecond
	ca := tlstest.NewCA(t, "ca")
	first := ca.Issue(t, tlstest.Leaf{})
	dir := t.TempDir()
	writePlain(t, dir, first)
	s, updated := openUpdated(t, Options{Dir: dir, PollInterval: fast})
	run(t, s)
	stop := hammer(t, listen(t, s.TLSConfig()), ca.Pool(), 2)

	for range rounds {
		next := ca.Issue(t, tlstest.Leaf{})
		writeFile(t, filepath.Join(dir, KeyFile), next.Key)
		<-time.After(gap) // the fault: a slow writer
		writeFile(t, filepath.Join(dir, CertFile), next.Cert)
		await(t, updated, "the pair once it is whole")
		expectServed(t, s, next)
	}
	if stop() == 0 {
		t.Error("no handshake was made while files were replaced")
	}
}

// A writer that finishes before the retries end is not reported.
func TestHalfWrittenPairIsRetriedBeforeItIsReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		after time.Duration
		want  []string
	}{
		{"whole before the last retry", retries*retryGap - time.Millisecond, []string{"reloaded", "reloaded"}},
		{"whole after the last retry", retries*retryGap + time.Millisecond, []string{"reloaded", "failed", "reloaded", "recovered"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ca := tlstest.NewCA(t, "ca")
				dir := t.TempDir()
				writePlain(t, dir, ca.Issue(t, tlstest.Leaf{}))
				var calls log
				s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
				next := ca.Issue(t, tlstest.Leaf{})
				writeFile(t, filepath.Join(dir, KeyFile), next.Key)
				run(t, s) // it reads at once
				pass(test.after)
				writeFile(t, filepath.Join(dir, CertFile), next.Cert)
				pass(DefaultPollInterval)
				expectServed(t, s, next)
				calls.expect(t, test.want...)
			})
		})
	}
}

// A plain folder whose pair is another one at each reading is not used until that ends.
func TestPairThatKeepsChanging(t *testing.T) {
	t.Parallel()
	for changes, want := range map[int]string{
		retries - 1: "",
		retries:     "the key pair keeps changing while it is read",
	} {
		synctest.Test(t, func(t *testing.T) {
			ca, dir, readings, began := tlstest.NewCA(t, "ca"), t.TempDir(), 0, time.Now()
			writePlain(t, dir, ca.Issue(t, tlstest.Leaf{}))
			_, err := Open(t.Context(), Options{Dir: dir, parsePair: func(f *files) (*pair, error) {
				if readings++; readings <= changes {
					writePlain(t, dir, ca.Issue(t, tlstest.Leaf{}))
				}
				return parsePair(f)
			}})
			if got := fmt.Sprint(err); want == "" && err != nil || !strings.HasSuffix(got, want) {
				t.Errorf("after %d changes: %s, want %q", changes, got, want)
			}
			if readings != 1+retries || time.Since(began) != retries*settleGap {
				t.Errorf("after %d changes: read %d times in %s", changes, readings, time.Since(began))
			}
		})
	}
}

// C7: only the chain after the leaf changes, neither the leaf nor the key.
func TestChainOnlyChangeIsServed(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	pair := ca.Intermediate(t, "intermediate").Issue(t, tlstest.Leaf{})
	dir := secretDir(t, pair)
	s, updated := openUpdated(t, Options{Dir: dir, PollInterval: fast})
	run(t, s)
	before := len(s.Certificate().Certificate)

	tlstest.SwapSecretDir(t, dir, map[string][]byte{
		CertFile: slices.Concat(pair.Cert, ca.PEM),
		KeyFile:  pair.Key,
	})
	await(t, updated, "the longer chain")
	if got := len(s.Certificate().Certificate); got != before+1 {
		t.Errorf("certificates served: %d, want %d", got, before+1)
	}
}

// A sync that rewrites the volume with the same bytes changes nothing.
func TestSameBytesAreNoChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		pair := tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{})
		dir := secretDir(t, pair)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks()})
		run(t, s)
		before := s.Certificate()
		tlstest.SwapSecretDir(t, dir, pair.Files())
		pass(DefaultPollInterval)
		if s.Certificate() != before {
			t.Error("the same bytes made another certificate")
		}
		calls.expect(t, "reloaded")
	})
}

func writePlain(t *testing.T, dir string, p tlstest.Pair) {
	t.Helper()
	for name, data := range p.Files() {
		writeFile(t, filepath.Join(dir, name), data)
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
