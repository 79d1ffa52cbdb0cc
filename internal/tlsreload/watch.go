package tlsreload

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A notifier is the part of fsnotify.Watcher that is used, so that tests can do without the kernel.
type notifier interface {
	Add(dir string) error
	Close() error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
}

type fsNotifier struct{ *fsnotify.Watcher }

func (n fsNotifier) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n fsNotifier) Errors() <-chan error          { return n.Watcher.Errors }

func newFSNotifier() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return fsNotifier{w}, nil
}

// A watch says when something in its directories may have changed. It watches directories, never
// files: the watch on a file is gone when the file is replaced. It belongs to one goroutine, but
// for its channels.
type watch struct {
	open func() (notifier, error) // nil: no watch is wanted
	dirs []string

	changed chan struct{} // one pending signal stands for any number of events
	trouble chan error

	notifier notifier
	done     chan struct{} // closed when forward has returned
}

func newWatch(open func() (notifier, error), dirs []string) *watch {
	return &watch{open: open, dirs: dirs, changed: make(chan struct{}, 1), trouble: make(chan error, 1)}
}

// arm makes the watch, or makes it whole again: adding a directory that is already watched changes
// nothing, and one that was removed and came back needs a new watch. An error leaves polling.
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
		if err := w.notifier.Add(dir); err != nil {
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

// forward takes the events as fast as they come, so that the kernel's queue does not run over
// while files are read.
func (w *watch) forward(n notifier, done chan<- struct{}) {
	defer close(done)
	events, errs := n.Events(), n.Errors()
	for {
		select {
		case _, ok := <-events:
			if !ok {
				return
			}
			select {
			case w.changed <- struct{}{}:
			default:
			}
		case err, ok := <-errs:
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
	_ = w.notifier.Close() // nothing depends on it: what was watched is read anew
	<-w.done
	w.notifier = nil
}
