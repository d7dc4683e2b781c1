package tool

import "errors"

// undone is an error of a body that certainly did nothing.
type undone struct{ error }

func (u undone) Unwrap() error { return u.error }

// Undone marks the error of a body whose tool must not be run twice: nothing was done
// yet, so the same call may be made again. Without it the error is the outcome.
func Undone(err error) error {
	if err == nil {
		return nil
	}
	return undone{err}
}

// IsUndone says whether the body said that it did nothing.
func IsUndone(err error) bool {
	_, ok := errors.AsType[undone](err)
	return ok
}
