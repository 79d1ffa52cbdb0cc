package ruleset

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
)

// A fileReader reads a file, whose errors call it by another name. It is a passedError where there is nothing that can be read.
type fileReader func(path, name string) ([]byte, error)

// A Reader reads rules and CRDs.
type Reader struct {
	named, inFolder fileReader
	waits           *readWaits
}

// ReaderForVerbs reads files that somebody names on the command line, pipes included.
func ReaderForVerbs() Reader { return Reader{named: ReadBounded, inFolder: readRegular} }

// ReaderForServe reads files that are followed: what takes too long must not hold up the others.
func ReaderForServe() Reader {
	return Reader{named: readRegular, inFolder: readRegular, waits: newReadWaits()}
}

// A passedError is about a file that is passed by: the others in its folder are read.
type passedError struct {
	why   string
	stuck bool // it may be there
}

func (e passedError) Error() string { return e.why }

// readRegular is a fileReader for files and links to files. It passes by what else a name may stand for: to read a pipe or a
// device may take forever.
func readRegular(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Renamed(err, name)
	}
	if why := notRegular(info); why != "" {
		return nil, passedError{why: why}
	}
	// Should it be a pipe by now, opening it does not wait for somebody who writes.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the user's own files
	if err != nil {
		return nil, Renamed(err, name)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if info, err = file.Stat(); err != nil {
		return nil, Renamed(err, name)
	}
	if why := notRegular(info); why != "" {
		return nil, passedError{why: why}
	}
	text, err := bounded(file, name)
	return text, Renamed(err, name)
}

// notRegular says what something is that is no file; nothing if it is one.
func notRegular(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return ""
	case mode&fs.ModeNamedPipe != 0:
		return "it is a pipe"
	case mode&fs.ModeDevice != 0:
		return "it is a device"
	case mode&fs.ModeSocket != 0:
		return "it is a socket"
	case mode.IsDir():
		return "it is a folder"
	}
	return "it is no regular file"
}

// longestRead is how long a file may take to be read while others wait.
const longestRead = 5 * time.Second

// readWaits knows what did not end in time. It is safe for concurrent use.
type readWaits struct {
	mutex sync.Mutex
	stuck map[string]bool
}

func newReadWaits() *readWaits { return &readWaits{stuck: map[string]bool{}} }

// within returns what f does. Where that takes too long, as of a file system that hangs, or ctx ends, it leaves f to itself, since
// nobody can end it; and f is not called anew before it has ended. Without p it only calls f.
func within[T any](ctx context.Context, p *readWaits, path string, f func() (T, error)) (T, error) {
	if p == nil {
		return f()
	}
	var none T
	stuck := passedError{why: "it has not answered for " + longestRead.String(), stuck: true}
	if !p.begin(path) {
		return none, stuck
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		p.end(path)
		done <- result{value, err}
	}()
	timer := time.NewTimer(longestRead)
	defer timer.Stop()
	select {
	case is := <-done:
		return is.value, is.err
	case <-ctx.Done():
		return none, ctx.Err()
	case <-timer.C:
		return none, stuck
	}
}

// begin reports whether nothing is under way for a path, and that something is from now on.
func (p *readWaits) begin(path string) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	under := p.stuck[path]
	p.stuck[path] = true
	return !under
}

func (p *readWaits) end(path string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.stuck, path)
}
