package tlsreload

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A notifier is the part of fsnotify.Watcher that is used, so that tests can do without the kernel.
type notifier struct {
	add    func(dir string) error
	close  func() error
	events <-chan fsnotify.Event
	errors <-chan error
}

func newFSNotifier() (*notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &notifier{w.Add, w.Close, w.Events, w.Errors}, nil
}

// A watch signals when something in its directories may have changed. It watches directories, not
// files: the watch on a file is gone when the file is replaced. Apart from its channels, it belongs
// to one goroutine.
type watch struct {
	open func() (*notifier, error) // nil: no watch is wanted
	dirs []string

	changed chan struct{} // one pending signal for any number of events
	trouble chan error

	notifier *notifier
	done     chan struct{} // closed when forward has returned
}

func newWatch(open func() (*notifier, error), dirs []string) *watch {
	return &watch{open: open, dirs: dirs, changed: make(chan struct{}, 1), trouble: make(chan error, 1)}
}

// arm makes the watch, or completes it: adding a directory that is already watched changes nothing,
// and one that was removed and came back needs a new watch. After an error, polling is left.
func (w *watch) arm() error {
	if w.open == nil {
		return nil
	}
	if w.notifier == nil {
		n, err := w.open()
		if err != nil {
			return fmt.Errorf("directory watch cannot be made (fs.inotify.max_user_instances may be used up): %w", err)
		}
		w.notifier, w.done = n, make(chan struct{})
		go w.forward(n, w.done)
	}
	var problems []error
	for _, dir := range w.dirs {
		if err := w.notifier.add(dir); err != nil {
			if errors.Is(err, syscall.ENOSPC) {
				err = fmt.Errorf("fs.inotify.max_user_watches is used up: %w", cause(err))
			}
			problems = append(problems, fmt.Errorf("directory watch: %w: %s", err, dir))
		}
	}
	err := errors.Join(problems...)
	if errors.Is(err, fsnotify.ErrClosed) {
		w.close()
	}
	return err
}

// forward takes the events as fast as they come, so that the kernel's queue does not overflow while
// files are read.
func (w *watch) forward(n *notifier, done chan<- struct{}) {
	defer close(done)
	for {
		select {
		case _, ok := <-n.events:
			if !ok {
				return
			}
			select {
			case w.changed <- struct{}{}:
			default:
			}
		case err, ok := <-n.errors:
			if !ok {
				return
			}
			select {
			case w.trouble <- err:
			default:
			}
		}
	}
}

// close returns when the watch's goroutines have ended.
func (w *watch) close() {
	if w.notifier == nil {
		return
	}
	_ = w.notifier.close() // nothing depends on it: the files are read anyway
	<-w.done
	w.notifier = nil
}
