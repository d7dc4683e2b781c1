package onnx

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// The element types that the product's models use (enum ONNXTensorElementDataType
// of onnxruntime_c_api.h).
const (
	elemFloat uintptr = 1
	elemInt64 uintptr = 7
	elemBool  uintptr = 9
)

// Tensor is an array with a shape. One that [Float32], [Int64] or [Bool] made
// lies in Go memory and may be given to any number of runs, its data changed in
// between; it needs no Free. One that [Session.Run] returned lies in the
// library's memory until Free.
type Tensor struct {
	shape []int64
	elem  uintptr
	count int64          // elements that shape asks for; -1 for an impossible shape
	size  int            // bytes of an element
	have  int            // elements of data
	data  unsafe.Pointer // the first element, Go's or the library's; nil when empty
	keep  any            // the slice behind data
	lib   *library       // owner of value; nil for Go memory
	value uintptr        // OrtValue
}

// Float32 returns a tensor over data; the slice is used in place, not copied.
func Float32(data []float32, shape ...int64) *Tensor {
	return overGo(data, unsafe.Pointer(unsafe.SliceData(data)), len(data), 4, elemFloat, shape)
}

// Int64 returns a tensor over data; the slice is used in place, not copied.
func Int64(data []int64, shape ...int64) *Tensor {
	return overGo(data, unsafe.Pointer(unsafe.SliceData(data)), len(data), 8, elemInt64, shape)
}

// Bool returns a tensor over data; the slice is used in place, not copied.
func Bool(data []bool, shape ...int64) *Tensor {
	return overGo(data, unsafe.Pointer(unsafe.SliceData(data)), len(data), 1, elemBool, shape)
}

func overGo(keep any, p unsafe.Pointer, have, size int, elem uintptr, shape []int64) *Tensor {
	t := &Tensor{shape: append([]int64(nil), shape...), elem: elem, size: size, have: have, data: p, keep: keep}
	t.count = product(t.shape)
	return t
}

// product returns how many elements shape holds, or -1 when a side is negative or
// the number is beyond any memory.
func product(shape []int64) int64 {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || (d > 0 && n > (1<<40)/d) {
			return -1
		}
		n *= d
	}
	return n
}

// check says why t cannot be an input.
func (t *Tensor) check() error {
	switch {
	case t == nil:
		return fmt.Errorf("no tensor")
	case t.lib != nil && t.value == 0:
		return fmt.Errorf("tensor used after Free")
	case t.lib == nil && t.count != int64(t.have):
		return fmt.Errorf("shape %v asks for %d elements, the data has %d", t.shape, t.count, t.have)
	}
	return nil
}

// Shape returns a copy of the lengths of the tensor's sides; none for a scalar.
func (t *Tensor) Shape() []int64 { return append([]int64(nil), t.shape...) }

// Floats returns the elements in row-major order, without copying: for a tensor
// from [Session.Run] the slice must not be used after Free. It is nil for another
// element type and after Free.
func (t *Tensor) Floats() []float32 {
	if t.elem != elemFloat || t.data == nil {
		return nil
	}
	return unsafe.Slice((*float32)(t.data), t.count)
}

// Free gives the library's memory back; for a tensor in Go memory it does
// nothing. It may be called again, also on nil.
func (t *Tensor) Free() {
	if t == nil || t.lib == nil || t.value == 0 {
		return
	}
	t.lib.release(releaseValue, t.value)
	t.value, t.data, t.count = 0, nil, 0
}

// bind returns an OrtValue for t and whether the caller has to release it. The Go
// memory is pinned by pin, which has to outlive the value.
func (l *library) bind(t *Tensor, pin *runtime.Pinner) (value uintptr, temporary bool, err error) {
	if err := t.check(); err != nil {
		return 0, false, err
	}
	if t.lib != nil {
		return t.value, false, nil
	}
	// The library wants a non-null pointer even for nothing.
	p, shape := t.data, t.shape
	if t.have == 0 {
		p = unsafe.Pointer(new(int64))
	}
	if len(shape) == 0 {
		shape = make([]int64, 1)
	}
	pin.Pin(p)
	err = l.call(createTensorWithData, l.memory, uintptr(p), uintptr(t.have*t.size),
		uintptr(unsafe.Pointer(&shape[0])), uintptr(len(t.shape)), t.elem, uintptr(unsafe.Pointer(&value)))
	return value, err == nil, err
}

// adopt makes a Tensor of an OrtValue that the library allocated; on an error the
// value is released.
func (l *library) adopt(value uintptr) (t *Tensor, err error) {
	t = &Tensor{lib: l, value: value}
	defer func() {
		if err != nil {
			t.Free()
		}
	}()
	if value == 0 {
		return nil, errors.New("the library returned nothing")
	}
	var info uintptr
	if err := l.call(getTensorTypeAndShape, value, uintptr(unsafe.Pointer(&info))); err != nil {
		return nil, err
	}
	defer l.release(releaseTensorInfo, info)
	if t.shape, t.elem, err = l.dims(info); err != nil {
		return nil, err
	}
	if t.count = product(t.shape); t.count <= 0 {
		return t, nil
	}
	return t, l.call(getTensorMutableData, value, uintptr(unsafe.Pointer(&t.data)))
}

// dims reads an OrtTensorTypeAndShapeInfo: the sides, -1 for one that the model
// leaves open, and the element type.
func (l *library) dims(info uintptr) (shape []int64, elem uintptr, err error) {
	var n uintptr
	var kind int32
	if err := l.call(getTensorElementType, info, uintptr(unsafe.Pointer(&kind))); err != nil {
		return nil, 0, err
	}
	if err := l.call(getDimensionsCount, info, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, 0, err
	}
	if n == 0 {
		return nil, uintptr(kind), nil
	}
	shape = make([]int64, n)
	err = l.call(getDimensions, info, uintptr(unsafe.Pointer(&shape[0])), n)
	return shape, uintptr(kind), err
}
