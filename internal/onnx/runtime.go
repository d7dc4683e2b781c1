package onnx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"cutroom"
)

// Runtime is a loaded ONNX Runtime library. It stays loaded until the process
// ends and may be used by many goroutines.
type Runtime struct{ lib *library }

// Open loads the library at path lib (libonnxruntime.so, 1.17 or later). A file
// that is absent or is no ONNX Runtime is a missing_dependency; a system without a
// binding is unavailable.
func Open(lib string) (*Runtime, error) {
	if err := present(lib, "ONNX Runtime library"); err != nil {
		return nil, err
	}
	base, err := load(lib)
	if e, ok := errors.AsType[*cutroom.Error](err); ok {
		return nil, e
	}
	var l *library
	if err == nil {
		l, err = start(base)
	}
	if err != nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the ONNX Runtime library does not load").
			WithHint("run `cutroom setup`").WithCause(err)
	}
	return &Runtime{lib: l}, nil
}

// present says in the caller's words that a file of the installation is missing.
func present(path, what string) error {
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("not a regular file: %w", fs.ErrInvalid)
	}
	return cutroom.Errorf(cutroom.MissingDependency, "the %s is not installed", what).
		WithHint("run `cutroom setup`").WithCause(err)
}

// Version returns the library's own version, such as "1.28.2".
func (r *Runtime) Version() string { return r.lib.version }

// Session is one model, ready to run. Runs may be concurrent.
type Session struct {
	// Inputs and Outputs are the model's names, in its order.
	Inputs, Outputs []string

	lib    *library
	names  map[string][]byte  // C strings of all names
	shapes map[string][]int64 // of the inputs, as declared

	mu     sync.RWMutex // held for reading by runs, for writing by Close
	handle uintptr
}

// Load reads the model file and prepares it for the given number of threads, the
// calling one included (0 counts as 1).
func (r *Runtime) Load(model string, threads int) (*Session, error) {
	if err := present(model, "model "+lastTwo(model)); err != nil {
		return nil, err
	}
	options, err := r.lib.options(max(threads, 1))
	defer r.lib.release(releaseSessionOptions, options)
	if err != nil {
		return nil, fmt.Errorf("options of a session: %w", err)
	}
	s := &Session{lib: r.lib, names: map[string][]byte{}, shapes: map[string][]int64{}}
	path := cString(model)
	if err := r.lib.call(createSession, r.lib.env, uintptr(unsafe.Pointer(&path[0])), options, uintptr(unsafe.Pointer(&s.handle))); err != nil {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the model %s does not load", lastTwo(model)).
			WithHint("run `cutroom setup` to fetch it again").WithCause(err)
	}
	if err := s.describe(); err != nil {
		s.Close()
		return nil, fmt.Errorf("describe %s: %w", lastTwo(model), err)
	}
	return s, nil
}

// lastTwo returns the end of a path: enough to say which model, without telling
// where the user keeps it.
func lastTwo(path string) string {
	n := 0
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			if n++; n == 2 {
				return path[i+1:]
			}
		}
	}
	return path
}

// options makes OrtSessionOptions. Worker threads sleep instead of spinning: the
// machine is shared with decoders, and a spinning thread counts as CPU time.
func (l *library) options(threads int) (options uintptr, err error) {
	if err := l.call(createSessionOptions, uintptr(unsafe.Pointer(&options))); err != nil {
		return 0, err
	}
	key, off := cString("session.intra_op.allow_spinning"), cString("0")
	return options, errors.Join(
		l.call(setIntraOpThreads, options, uintptr(threads)),
		l.call(setInterOpThreads, options, 1),
		l.call(setLogSeverity, options, logError),
		l.call(setOptimizationLevel, options, optimizeAll),
		l.call(addSessionConfigEntry, options, uintptr(unsafe.Pointer(&key[0])), uintptr(unsafe.Pointer(&off[0]))),
	)
}

// describe reads the names, and the declared shapes of the inputs.
func (s *Session) describe() (err error) {
	if s.Inputs, err = s.list(sessionInputCount, sessionInputName); err != nil {
		return err
	}
	if s.Outputs, err = s.list(sessionOutputCount, sessionOutputName); err != nil {
		return err
	}
	for i, name := range s.Inputs {
		if s.shapes[name], err = s.declared(uintptr(i)); err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
	}
	return nil
}

// list reads the names of the inputs or of the outputs.
func (s *Session) list(count, name int) (names []string, err error) {
	var n uintptr
	if err := s.lib.call(count, s.handle, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	for i := range n {
		var c uintptr
		if err := s.lib.call(name, s.handle, i, s.lib.allocator, uintptr(unsafe.Pointer(&c))); err != nil {
			return nil, err
		}
		text := goString(c)
		if err := s.lib.call(allocatorFree, s.lib.allocator, c); err != nil {
			return nil, err
		}
		names = append(names, text)
		s.names[text] = cString(text)
	}
	return names, nil
}

// declared returns the shape of the i-th input; nil when it is no tensor.
func (s *Session) declared(i uintptr) (shape []int64, err error) {
	var info, tensor uintptr
	if err := s.lib.call(sessionInputTypeInfo, s.handle, i, uintptr(unsafe.Pointer(&info))); err != nil {
		return nil, err
	}
	defer s.lib.release(releaseTypeInfo, info)
	// The tensor view belongs to info and is not released by itself.
	if err := s.lib.call(castTypeToTensorInfo, info, uintptr(unsafe.Pointer(&tensor))); err != nil || tensor == 0 {
		return nil, err
	}
	shape, _, err = s.lib.dims(tensor)
	return shape, err
}

// InputShape returns the declared sides of an input, -1 where the model leaves
// the length open; nil for a name the model does not have.
func (s *Session) InputShape(name string) []int64 {
	return append([]int64(nil), s.shapes[name]...)
}

// Run computes the wanted outputs (all when none is named) from one tensor for
// each of [Session.Inputs]. The caller frees the returned tensors. The inputs'
// data must not change meanwhile.
func (s *Session) Run(in map[string]*Tensor, want ...string) (map[string]*Tensor, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.handle == 0 {
		return nil, errors.New("session used after Close")
	}
	if len(want) == 0 {
		want = s.Outputs
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	a := arguments{session: s, pin: &pin}
	defer a.release()
	if err := a.collect(in, want); err != nil {
		return nil, err
	}
	err := s.lib.call(run, s.handle, 0,
		uintptr(unsafe.Pointer(unsafe.SliceData(a.inNames))), uintptr(unsafe.Pointer(unsafe.SliceData(a.inValues))), uintptr(len(a.inNames)),
		uintptr(unsafe.Pointer(unsafe.SliceData(a.outNames))), uintptr(len(a.outNames)), uintptr(unsafe.Pointer(unsafe.SliceData(a.outValues))))
	runtime.KeepAlive(in)
	if err != nil {
		return nil, err
	}
	return a.adopt(want)
}

// Close frees the model. It waits for runs in flight and may be called again.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lib.release(releaseSession, s.handle)
	s.handle = 0
}

// arguments are the arrays of one Run.
type arguments struct {
	session             *Session
	pin                 *runtime.Pinner
	inNames, outNames   []*byte
	inValues, outValues []uintptr
	temporary           []uintptr // values over Go memory, released after the run
}

func (a *arguments) collect(in map[string]*Tensor, want []string) error {
	s := a.session
	for _, name := range s.Inputs {
		t, ok := in[name]
		if !ok {
			return fmt.Errorf("no input %s", name)
		}
		value, temporary, err := s.lib.bind(t, a.pin)
		if err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		if temporary {
			a.temporary = append(a.temporary, value)
		}
		a.inNames = append(a.inNames, a.name(name))
		a.inValues = append(a.inValues, value)
	}
	if len(in) != len(s.Inputs) {
		return fmt.Errorf("%d inputs given, the model has %d", len(in), len(s.Inputs))
	}
	for i, name := range want {
		if s.names[name] == nil {
			return fmt.Errorf("the model has no output %s", name)
		}
		if slices.Contains(want[:i], name) {
			return fmt.Errorf("output %s is wanted twice", name)
		}
		a.outNames = append(a.outNames, a.name(name))
	}
	a.outValues = make([]uintptr, len(want))
	return nil
}

// name returns the pinned C string of a name: the library reads it through an
// array, where the collector's eye would have to follow.
func (a *arguments) name(name string) *byte {
	p := &a.session.names[name][0]
	a.pin.Pin(p)
	return p
}

// adopt makes tensors of the outputs; on an error nothing is left allocated.
func (a *arguments) adopt(want []string) (map[string]*Tensor, error) {
	out := make(map[string]*Tensor, len(want))
	var failed error
	for i, name := range want {
		if failed != nil {
			a.session.lib.release(releaseValue, a.outValues[i])
			continue
		}
		t, err := a.session.lib.adopt(a.outValues[i])
		if err != nil {
			failed = fmt.Errorf("output %s: %w", name, err)
			continue
		}
		out[name] = t
	}
	if failed == nil {
		return out, nil
	}
	for _, t := range out {
		t.Free()
	}
	return nil, failed
}

func (a *arguments) release() {
	for _, v := range a.temporary {
		a.session.lib.release(releaseValue, v)
	}
}
