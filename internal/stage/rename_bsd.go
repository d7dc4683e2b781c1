//go:build unix && !linux && !darwin

package stage

func renameNoReplace(int, string, int, string) error { return errUnsupported }

func renameExchange(int, string, string) error { return errUnsupported }
