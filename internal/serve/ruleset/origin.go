package ruleset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// An Origin says what a command reads, and the remedy if it does not exist.
type Origin struct{ What, Remedy string }

// Unread returns the errors for the files and folders at path in the usual form: the path first,
// then what failed and why, and the remedy.
func (p Origin) Unread(path string, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		problems := slices.Clone(joined.Unwrap())
		for i, err := range problems {
			problems[i] = p.Unread(path, err)
		}
		return errors.Join(problems...)
	}
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	remedy := ""
	switch {
	case errors.Is(failed, fs.ErrPermission):
		remedy = ", give webhookd the right to read it"
	case failed.Path == path:
		remedy = ", " + p.Remedy
	case errors.Is(failed, fs.ErrNotExist): // although its folder lists it
		remedy = ", fix the link or remove it"
	}
	return fmt.Errorf("%s: cannot read %s: %w%s", cmp.Or(failed.Path, `""`), p.What, failed.Err, remedy)
}
