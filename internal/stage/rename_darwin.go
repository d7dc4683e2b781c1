package stage

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func renameNoReplace(from int, old string, to int, new string) error {
	err := unix.RenameatxNp(from, old, to, new, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return err
}

func renameExchange(in int, a, b string) error {
	err := unix.RenameatxNp(in, a, in, b, unix.RENAME_SWAP)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("%w: %w", errUnsupported, err)
	}
	return err
}
