package approval

import (
	"path/filepath"
	"testing"

	"cutroom/internal/store"
	"cutroom/internal/store/storetest"
)

// BenchmarkFindAndSpend is what an approved call costs beyond its work.
func BenchmarkFindAndSpend(b *testing.B) {
	d := newDesk(b, storetest.At(b, filepath.Join(b.TempDir(), store.Name)))
	bound := overwriting()
	for b.Loop() {
		b.StopTimer()
		d.approve(bound, d.file(bound).ID)
		b.StartTimer()
		if _, why := d.try(bound); why != "" {
			b.Fatal(why)
		}
	}
}

// BenchmarkUnlock is what a guess at the passphrase costs.
func BenchmarkUnlock(b *testing.B) {
	k := Keys{b.TempDir()}
	if err := k.SetPassphrase(nil, []byte("correct horse")); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := k.Unlock([]byte("correct horse")); err != nil {
			b.Fatal(err)
		}
	}
}
