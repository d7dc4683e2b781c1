//go:build (linux && (amd64 || arm64)) || darwin

package onnx

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// load opens the library and returns the address of its one exported function.
func load(path string) (getBase uintptr, err error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return 0, err
	}
	getBase, err = purego.Dlsym(handle, "OrtGetApiBase")
	if err != nil {
		return 0, fmt.Errorf("not an ONNX Runtime: %w", err)
	}
	return getBase, nil
}

// invoke calls the C function at fn. See [library.call] for the directive.
//
//go:uintptrescapes
func invoke(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}
