package ruleset

import (
	"io/fs"
	"os"
)

// A fileReader reads the file at path. Errors use name instead. A skippedError means that it is not
// a readable file.
type fileReader func(path, name string) ([]byte, error)

// A Reader reads a file of rules or CRDs that is named. In a folder, it reads only regular files.
type Reader fileReader

// ReaderForVerbs returns a Reader for files on the command line. It also reads pipes.
func ReaderForVerbs() Reader { return ReadBounded }

// ReaderForServe returns a Reader for followed files.
func ReaderForServe() Reader { return readRegular }

// A skippedError says why a file is skipped. The others in its folder are still read.
type skippedError string

func (e skippedError) Error() string { return string(e) }

// readRegular is a fileReader for files and links to files. It passes by anything else, since
// reading a pipe or a device may take for ever.
func readRegular(path, name string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Renamed(err, name)
	}
	if why := notRegular(info); why != "" {
		return nil, skippedError(why)
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
		return nil, skippedError(why)
	}
	text, err := Bounded(file, name, maxRuleFile)
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
