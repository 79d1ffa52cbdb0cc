package tlsreload

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/fsnotify/fsnotify"
)

// A notifier has the used methods of fsnotify.Watcher, so tests can do without the kernel.
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

// A watch signals when something in its directories may have changed. It watches directories,
// because a watch on a file is lost when the file is replaced. Apart from its channels, it belongs
// to one goroutine.
type watch struct {
	open func() (*notifier, error) // nil: no watch
	dirs []string

	changed chan struct{} // has one signal for any number of events
	trouble chan error

	notifier *notifier
	done     chan struct{} // closed when forward has returned
}

func newWatch(open func() (*notifier, error), dirs []string) *watch {
	return &watch{open: open, dirs: dirs, changed: make(chan struct{}, 1), trouble: make(chan error, 1)}
}

// arm makes or completes the watch. Adding a directory again changes nothing, and a directory that
// was removed and created again needs a new watch. After an error, polling is left.
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
			problems = append(problems, fmt.Errorf("%s: directory watch: %w", dir, err))
		}
	}
	err := errors.Join(problems...)
	if errors.Is(err, fsnotify.ErrClosed) {
		w.close()
	}
	return err
}

// forward takes events as fast as they arrive, so the kernel's queue does not overflow while files
// are read.
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

// close stops the watch and waits for its goroutines.
func (w *watch) close() {
	if w.notifier == nil {
		return
	}
	_ = w.notifier.close() // the files are read anyway
	<-w.done
	w.notifier = nil
}
