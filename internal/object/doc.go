// Package object names things in still pictures: which of eighty everyday kinds are
// there, where, and how sure that is.
//
// The model is MB3-CenterNet, trained on the 80 kinds of COCO. It is read from its
// two files and worked out by this package alone, in Go, without a native library;
// it runs in [Child], a sandboxed run of our own binary. [Command] is the pure side:
// it says what to run and what its answer means.
//
// It promises that the same picture gives the same answer for any number of threads,
// with every sum rounded alike on every kind of processor; that what a model will take in memory and arithmetic is
// known, and bounded, before it is worked out; and that a broken picture is a [View]
// with a Problem and never the end of the others. It must never know a video, a
// workspace or a tool.
package object
