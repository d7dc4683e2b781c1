package onnx

import (
	"errors"
	"fmt"
	"unsafe"
)

// apiVersion is the version of the C interface that is asked for (ORT_API_VERSION
// of ONNX Runtime 1.17); later libraries still answer it. Its table is frozen, so
// the places below hold for every library.
const apiVersion = 17

// Places of the functions in struct OrtApi, in its declared order.
const (
	getErrorMessage        = 2
	createEnv              = 3
	disableTelemetryEvents = 6
	createSession          = 7
	run                    = 9
	createSessionOptions   = 10
	setLogSeverity         = 22
	setOptimizationLevel   = 23
	setIntraOpThreads      = 24
	setInterOpThreads      = 25
	sessionInputCount      = 30
	sessionOutputCount     = 31
	sessionInputTypeInfo   = 33
	sessionInputName       = 36
	sessionOutputName      = 37
	createTensorWithData   = 49
	getTensorMutableData   = 51
	castTypeToTensorInfo   = 55
	getTensorElementType   = 60
	getDimensionsCount     = 61
	getDimensions          = 62
	getTensorTypeAndShape  = 65
	createCPUMemoryInfo    = 69
	allocatorFree          = 76
	getDefaultAllocator    = 78
	releaseEnv             = 92
	releaseStatus          = 93
	releaseMemoryInfo      = 94
	releaseSession         = 95
	releaseValue           = 96
	releaseTypeInfo        = 98
	releaseTensorInfo      = 99
	releaseSessionOptions  = 100
	addSessionConfigEntry  = 130
)

// Values of the interface's enumerations.
const (
	logError       = 3  // ORT_LOGGING_LEVEL_ERROR
	optimizeAll    = 99 // ORT_ENABLE_ALL
	deviceArena    = 1  // OrtArenaAllocator
	memTypeDefault = 0  // OrtMemTypeDefault
)

// library is one loaded ONNX Runtime. It stays loaded until the process ends:
// unloading a library that has started threads is not safe.
type library struct {
	api       unsafe.Pointer // struct OrtApi
	env       uintptr        // OrtEnv
	memory    uintptr        // OrtMemoryInfo of plain memory
	allocator uintptr        // OrtAllocator, owned by the library
	version   string
}

// fn returns the address of a function of the table.
func (l *library) fn(place int) uintptr {
	return *(*uintptr)(unsafe.Add(l.api, uintptr(place)*unsafe.Sizeof(uintptr(0))))
}

// call calls a function that answers an OrtStatus and turns it into an error.
//
// The directive keeps what the arguments point to alive and moves it to the heap:
// a goroutine's stack may move while the library runs.
//
//go:uintptrescapes
func (l *library) call(place int, args ...uintptr) error {
	status := invoke(l.fn(place), args...)
	if status == 0 {
		return nil
	}
	msg := goString(invoke(l.fn(getErrorMessage), status))
	l.release(releaseStatus, status)
	return errors.New("onnx runtime: " + msg)
}

// release calls one of the Release functions.
func (l *library) release(place int, handle uintptr) {
	if handle != 0 {
		invoke(l.fn(place), handle)
	}
}

// start asks the loaded library, whose OrtGetApiBase is at getBase, for its table
// and makes what every session shares.
func start(getBase uintptr) (*library, error) {
	// struct OrtApiBase { GetApi, GetVersionString }
	base := (*[2]uintptr)(pointer(invoke(getBase)))
	if base == nil {
		return nil, errors.New("the library has no interface")
	}
	l := &library{version: goString(invoke(base[1]))}
	if l.api = pointer(invoke(base[0], apiVersion)); l.api == nil {
		return nil, fmt.Errorf("version %q does not have interface %d", l.version, apiVersion)
	}
	name := cString("cutroom")
	if err := l.call(createEnv, logError, uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&l.env))); err != nil {
		return nil, err
	}
	steps := []func() error{
		func() error { return l.call(disableTelemetryEvents, l.env) },
		func() error {
			return l.call(createCPUMemoryInfo, deviceArena, memTypeDefault, uintptr(unsafe.Pointer(&l.memory)))
		},
		func() error { return l.call(getDefaultAllocator, uintptr(unsafe.Pointer(&l.allocator))) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			l.release(releaseMemoryInfo, l.memory)
			l.release(releaseEnv, l.env)
			return nil, err
		}
	}
	return l, nil
}

// pointer turns an address that C returned into a pointer. It is never used for
// Go memory, which is what vet's rule about such conversions protects.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address))
}

// goString copies a C string.
func goString(address uintptr) string {
	p := pointer(address)
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(p), n))
}

// cString returns s with the NUL that C expects.
func cString(s string) []byte { return append([]byte(s), 0) }
