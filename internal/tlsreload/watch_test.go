package tlsreload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// C3: the kernel's queue overflows. The error alone, without an event and long before the next
// poll, triggers a reading.
func TestWatchErrorMeansReadNow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
		fake := newFakeNotifier()
		var calls log
		s := open(t, Options{
			Dir: dir, PollInterval: time.Hour, Hooks: calls.hooks(),
			newNotifier: func() (*notifier, error) { return &fake.notifier, nil },
		})
		run(t, s)
		synctest.Wait()

		for range 3 {
			next := ca.Issue(t, tlstest.Leaf{})
			tlstest.SwapSecretDir(t, dir, next.Files())
			fake.errs <- fsnotify.ErrEventOverflow
			synctest.Wait()
			expectServed(t, s, next)
		}
		calls.expect(t, "reloaded", "watch failed", "reloaded", "reloaded", "reloaded")

		pass(time.Hour)
		calls.expect(t, "reloaded", "watch failed", "reloaded", "reloaded", "reloaded", "watch restored")
	})
}

// C3, with the kernel: a flood of files next to the link hides no swap.
func TestSwapAfterFloodOfEvents(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "ca")
	dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
	s, updated := openUpdated(t, Options{Dir: dir, PollInterval: time.Hour})
	run(t, s)
	for i := range 500 {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("junk-%d", i)), nil)
	}
	next := ca.Issue(t, tlstest.Leaf{})
	tlstest.SwapSecretDir(t, dir, next.Files())
	await(t, updated, "the swap after the flood")
	expectServed(t, s, next)
}

// C3: a swap between Open and the arming of the watch causes no event.
func TestFilesAreReadAfterTheWatchIsArmed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		next := ca.Issue(t, tlstest.Leaf{})
		dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
		fake := newFakeNotifier()
		fake.add = func(string) error {
			tlstest.SwapSecretDir(t, dir, next.Files())
			return nil
		}
		s := open(t, Options{
			Dir: dir, PollInterval: time.Hour,
			newNotifier: func() (*notifier, error) { return &fake.notifier, nil },
		})
		run(t, s)
		synctest.Wait()
		expectServed(t, s, next)
	})
}

// C4: no inotify instance is left. Polling finds the changes, and the watch is made as soon as
// possible.
func TestPollingWhenTheWatchCannotBeMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca := tlstest.NewCA(t, "ca")
		dir := secretDir(t, ca.Issue(t, tlstest.Leaf{}))
		fake := newFakeNotifier()
		var exhausted atomic.Bool
		exhausted.Store(true)
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks(), newNotifier: func() (*notifier, error) {
			if exhausted.Load() {
				return nil, os.NewSyscallError("inotify_init1", syscall.EMFILE)
			}
			return &fake.notifier, nil
		}})
		run(t, s)
		pass(time.Minute)
		calls.expect(t, "reloaded", "watch failed")

		next := ca.Issue(t, tlstest.Leaf{})
		tlstest.SwapSecretDir(t, dir, next.Files())
		pass(DefaultPollInterval)
		expectServed(t, s, next)

		exhausted.Store(false)
		pass(DefaultPollInterval)
		calls.expect(t, "reloaded", "watch failed", "reloaded", "watch restored")

		byEvent := ca.Issue(t, tlstest.Leaf{})
		tlstest.SwapSecretDir(t, dir, byEvent.Files())
		fake.events <- fsnotify.Event{Name: dir, Op: fsnotify.Create}
		synctest.Wait()
		expectServed(t, s, byEvent)
	})
}

func TestWatchThatWasClosedIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := secretDir(t, tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{}))
		var made int
		var calls log
		s := open(t, Options{Dir: dir, Hooks: calls.hooks(), newNotifier: func() (*notifier, error) {
			made++
			fake := newFakeNotifier()
			var adds int
			first := made == 1
			fake.add = func(string) error {
				if adds++; first && adds > 1 {
					return fsnotify.ErrClosed
				}
				return nil
			}
			return &fake.notifier, nil
		}})
		run(t, s)
		pass(3 * DefaultPollInterval)
		if made != 2 {
			t.Errorf("watches made: %d, want 2", made)
		}
		calls.expect(t, "reloaded", "watch failed", "watch restored")
	})
}

func TestWatchReportsUsedUpWatches(t *testing.T) {
	t.Parallel()
	fake := newFakeNotifier()
	fake.add = func(string) error { return syscall.ENOSPC }
	w := newWatch(func() (*notifier, error) { return &fake.notifier, nil }, []string{"/tls"})
	defer w.close()
	err := w.arm()
	want := "/tls: directory watch: fs.inotify.max_user_watches is used up: no space left on device"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// The directory itself is removed and created again: arm then watches the new one.
func TestWatchIsArmedAgainOnANewDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "tls")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := newFSNotifier()
	if err != nil {
		t.Fatal(err)
	}
	w := newWatch(func() (*notifier, error) { return n, nil }, []string{dir})
	seen := make(chan struct{}, 1)
	stopped := make(chan struct{})
	probe := filepath.Join(dir, "probe")
	go func() {
		defer close(stopped)
		for event := range n.events {
			if event.Name == probe {
				select {
				case seen <- struct{}{}:
				default:
				}
			}
		}
	}()
	w.notifier, w.done = n, stopped // forward would take the events
	defer w.close()
	for round := range 3 {
		if round > 0 {
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.arm(); err != nil {
			t.Fatalf("arm: %v", err)
		}
		writeFile(t, probe, nil)
		await(t, seen, "an event in the new directory")
	}
}

func TestRunTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Options{Dir: secretDir(t, tlstest.NewCA(t, "ca").Issue(t, tlstest.Leaf{})), NoWatch: true})
		run(t, s)
		synctest.Wait()
		if err := s.Run(t.Context()); err == nil || err.Error() != "key pair is already being followed" {
			t.Errorf("second Run: %v", err)
		}
	})
}
