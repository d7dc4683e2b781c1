// Package cutroom holds the nouns of the product: what is passed between the
// parts, and nothing that does work.
//
// It promises that a noun means the same at every door: a [Digest] is always
// lower-case SHA-256, a time is always an exact [Micros], an [Error] always
// carries one of the codes of [Codes]. It imports the standard library only and
// must never know a store, a program or a door.
package cutroom

// Version is the version of the product, printed by `cutroom version` and
// recorded in provenance. The release build sets it.
var Version = "0.1.0-dev"

// ContractVersion is the version of the video.* contracts that this product
// keeps compatible.
const ContractVersion = "1.2.0"
