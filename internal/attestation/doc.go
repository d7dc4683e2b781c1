// Package attestation states how a file came to be, signed: an in-toto Statement (v1)
// in a DSSE envelope (v1.0.2), with an ed25519 key of this user's.
//
// It promises that a statement's bytes depend on the facts alone, that what it reads is
// read strictly (each member once, none unknown, no byte behind the end), and that a
// signature counts only from a key that is known, was in use when the result was
// recorded, and was not revoked. Verifying needs the file, the envelope and the public
// key, nothing else of this machine.
//
// It must never know how results are recorded or who calls.
package attestation
