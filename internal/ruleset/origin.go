package ruleset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// An Origin is where a command reads something: what that is, and what to do where nothing is there.
type Origin struct{ What, Remedy string }

// Unread writes the errors of the files and folders at path as all others are written: what could not be done, why, what to
// do about it, and the path last.
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
	case errors.Is(failed, fs.ErrNotExist): // and yet it is in its folder
		remedy = ", fix the link or remove it"
	}
	return fmt.Errorf("cannot read %s: %w%s: %s", p.What, failed.Err, remedy, cmp.Or(failed.Path, `""`))
}
