package ruleset

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"
)

// A fileReader reads the file at path. Errors use name instead. A skippedError means that it is not
// a readable file.
type fileReader func(path, name string) ([]byte, error)

// A Reader reads rules and CRDs.
type Reader struct {
	named, inFolder fileReader
	waits           *readWaits
}

// ReaderForVerbs returns a Reader for files on the command line. It also reads pipes if they are
// named.
func ReaderForVerbs() Reader { return Reader{named: ReadBounded, inFolder: readRegular} }

// ReaderForServe returns a Reader for followed files. A file that takes too long does not hold up
// others.
func ReaderForServe() Reader {
	return Reader{named: readRegular, inFolder: readRegular, waits: newReadWaits()}
}

// A skippedError says why a file is skipped. The others in its folder are still read.
type skippedError struct {
	why   string
	stuck bool // it does not answer, but may exist
}

func (e skippedError) Error() string { return e.why }

// readRegular is a fileReader for files and links to files. It passes by anything else, since
// reading a pipe or a device may take for ever.
func readRegular(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Renamed(err, name)
	}
	if why := notRegular(info); why != "" {
		return nil, skippedError{why: why}
	}
	// If it has become a pipe by now, opening it must not wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0) //nolint:gosec // the user's own files
	if err != nil {
		return nil, Renamed(err, name)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if info, err = file.Stat(); err != nil {
		return nil, Renamed(err, name)
	}
	if why := notRegular(info); why != "" {
		return nil, skippedError{why: why}
	}
	text, err := bounded(file, name)
	return text, Renamed(err, name)
}

// notRegular says what something is if it is not a regular file. Otherwise it returns "".
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
	return "it is not a regular file"
}

// longestRead is how long one file may hold up the others.
const longestRead = 5 * time.Second

// readWaits remembers reads that have not ended. It is safe for concurrent use.
type readWaits struct {
	mutex sync.Mutex
	stuck map[string]bool
}

func newReadWaits() *readWaits { return &readWaits{stuck: map[string]bool{}} }

// within returns the result of f. If that takes too long, such as on a file system that hangs, or
// if ctx ends, it leaves f running, which cannot be ended, and does not call it for the same path
// until it has returned. If p is nil, it only calls f.
func within[T any](ctx context.Context, p *readWaits, path string, f func() (T, error)) (T, error) {
	if p == nil {
		return f()
	}
	var none T
	stuck := skippedError{why: "no answer for " + longestRead.String(), stuck: true}
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

// begin marks a read of path as running. It returns false if one is already running.
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
