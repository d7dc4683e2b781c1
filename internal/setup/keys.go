package setup

import (
	"path/filepath"

	"cutroom/internal/attestation"
)

// Keys are the keys that this user's attestations are signed with.
func (i *Installation) Keys() *attestation.Ring {
	return attestation.NewRing(filepath.Join(i.Folders.State, "keys", "attestation"), nil)
}
