// Package onnx runs neural networks through the C interface of ONNX Runtime,
// loaded at run time, without cgo.
//
// It promises that Go memory is handed to the library only for the length of one
// [Session.Run] and stays in place meanwhile, that everything the library
// allocates has one owner with a Free or a Close, and that a failure of the
// library is an error. It belongs in a sandboxed child: the library parses model
// files in native code. It must never know what a model is for.
package onnx
