package ruleset

import (
	"errors"
	"os"
)

// A Reader reads the file at path. Errors use name instead.
type Reader func(path, name string) ([]byte, error)

// errNotRegular skips a file in a folder: the others are still read.
var errNotRegular = errors.New("it is not a regular file")

// ReadRegular is a [Reader] for followed files and links to files. It passes by anything else,
// since reading a pipe or a device may take for ever.
func ReadRegular(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Renamed(err, name)
	}
	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	// If it has become a pipe by now, opening it must not wait for a writer.
	file, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0) //nolint:gosec // the user's own files
	if err != nil {
		return nil, Renamed(err, name)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if info, err = file.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, Renamed(err, name)
	}
	text, err := Bounded(file, name, maxRuleFile)
	return text, Renamed(err, name)
}
