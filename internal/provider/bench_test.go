package provider

import "testing"

// BenchmarkPack writes a request with a video of 19 MB, the largest that is sent whole.
func BenchmarkPack(b *testing.B) {
	r := Request{Messages: []Message{{Role: RoleUser, Parts: []Part{TextPart("what is this?"), {Kind: Video, Type: "video/mp4", Data: make([]byte, 19<<20)}}}}}
	for _, w := range []Wire{Chat, Responses} {
		b.Run(string(w), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(19 << 20)
			for b.Loop() {
				if _, err := w.codec().pack(Endpoint{Wire: w, Model: "m"}, r, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
