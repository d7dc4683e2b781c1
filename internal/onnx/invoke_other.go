//go:build !(linux && (amd64 || arm64)) && !darwin

package onnx

import (
	"runtime"

	"cutroom"
)

// load refuses: this system's loader has no binding yet.
func load(string) (uintptr, error) {
	return 0, cutroom.Errorf(cutroom.Unavailable, "local models are not available on %s/%s", runtime.GOOS, runtime.GOARCH).
		WithHint("use linux or macOS, or configure your own engine")
}

// invoke is never reached, because load refuses.
//
//go:uintptrescapes
func invoke(uintptr, ...uintptr) uintptr { panic("onnx: no library is loaded") }
