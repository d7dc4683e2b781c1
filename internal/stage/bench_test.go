package stage

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkLookup verifies a result of 50 artifacts of 200 kB, as a watch's frames:
// by identity, and by reading them all.
func BenchmarkLookup(b *testing.B) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("frames/%03d.jpg", i)] = string(bytes.Repeat([]byte{byte(i)}, 200_000))
	}
	for name, cache := range map[string]*IdentityCache{"identity": NewIdentityCache(b.TempDir(), later), "hash": nil} {
		b.Run(name, func(b *testing.B) {
			s := newStage(b, func(o *Options) { o.Cache = cache })
			if _, err := tryBuild(b.Context(), s, testName("x"), files); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if r, err := s.Lookup(b.Context(), testName("x")); r == nil || err != nil {
					b.Fatal(r, err)
				}
			}
		})
	}
}

// BenchmarkBuild makes and seals a result of 50 small artifacts.
func BenchmarkBuild(b *testing.B) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("frames/%03d.jpg", i)] = string(bytes.Repeat([]byte{byte(i)}, 20_000))
	}
	s := newStage(b)
	n := 0
	for b.Loop() {
		n++
		if _, err := tryBuild(b.Context(), s, testName(fmt.Sprint(n)), files); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDigest hashes 256 MiB beside `openssl dgst -sha256`, in turn, and
// reports both medians and their ratio.
func BenchmarkDigest(b *testing.B) {
	p := filepath.Join(b.TempDir(), "large")
	block := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	f, err := os.Create(p)
	if err != nil {
		b.Fatal(err)
	}
	for range 256 {
		if _, err := f.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	defer f.Close()
	var ours, theirs []time.Duration
	for b.Loop() {
		start := time.Now()
		d, _, err := (*IdentityCache)(nil).Digest(b.Context(), f)
		ours = append(ours, time.Since(start))
		if err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		out, err := exec.Command("openssl", "dgst", "-sha256", "-r", p).Output()
		theirs = append(theirs, time.Since(start))
		if err != nil || !bytes.HasPrefix(out, []byte(d)) {
			b.Fatalf("openssl answers %s, %v; we %s", out, err, d)
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	x, y := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(float64(x.Microseconds())/1000, "ours-ms")
	b.ReportMetric(float64(y.Microseconds())/1000, "openssl-ms")
	b.ReportMetric(float64(x)/float64(y), "ratio")
}
