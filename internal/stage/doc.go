// Package stage keeps results on disk, named by what they were made from.
//
// A result is a folder <source16>/<tool>/<invocation16>/ that holds artifacts and
// result.json, a [Manifest] under a MAC. The package promises that
//   - a result is visible whole or not at all, whatever instant the process or the
//     machine dies at, and however full the disk is;
//   - what [Stage.Lookup] answers is what [Build.Seal] recorded: a changed, added,
//     exchanged or forged file is a conflict, never an answer;
//   - of identical calls at the same time one builds and the others wait;
//   - nothing is deleted but what a record of ours lists, and only by [Stage.Prune]
//     (or, beyond the limit on leftovers, the bytes of the oldest leftover).
//
// Ownership is always a lock that the kernel drops with its holder, never a
// process id. Every walk beneath a root is made without following a link.
//
// It knows the nouns of package cutroom. It must never know a tool, a program,
// a policy or a database.
package stage
