//go:build !linux

package persontest

import (
	"errors"
	"os"
)

// Terminal is a pseudo-terminal, which is made on Linux alone.
type Terminal struct{ *os.File }

// NewTerminal says that there is none here.
func NewTerminal(...string) (*Terminal, error) { return nil, errors.ErrUnsupported }

// Close has nothing to return.
func (t *Terminal) Close() string { return "" }
