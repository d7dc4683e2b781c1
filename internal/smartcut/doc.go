// Package smartcut plans cuts that are exact to the frame and copy what they can: the
// packets of whole groups of pictures are kept as they are, only the frames between a
// cut and the nearest place where copying can begin or end are encoded anew, with the
// parameters of the source.
//
// It promises that what is copied is compared with the source packet by packet, that
// every encoded frame and a group of pictures on each side of a seam is decoded and
// compared with the source's frames, and that a cut which cannot be made or proved so
// says why. It is pure: it plans runs and judges what they print. It must never know a
// tool, nor how a whole edit is encoded.
package smartcut
