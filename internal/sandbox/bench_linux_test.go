//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"cutroom/internal/sandbox/argv"
)

// BenchmarkSandbox compares a plain exec with a sandboxed one of the same program,
// interleaved. It reports the medians and their difference; the limit is 10 ms.
func BenchmarkSandbox(b *testing.B) {
	input := realFile(b, "example.mp4")
	probe := append(argv.Words("-v", "error", "-protocol_whitelist", "file", "-show_format", "-of", "json"), argv.In(0))
	for _, c := range []struct {
		name  string
		plain []string
		cmd   argv.Command
		input []*os.File
	}{
		{"true", []string{"/usr/bin/true"}, argv.Command{Program: "true"}, nil},
		{
			"ffprobe",
			[]string{"/usr/bin/ffprobe", "-v", "error", "-show_format", "-of", "json", input.Name()},
			argv.Command{Program: "ffprobe", Inputs: []int{0}, Args: probe},
			[]*os.File{input},
		},
	} {
		for _, mode := range []struct {
			name string
			off  bool
		}{{"namespaces", false}, {"no-namespaces", true}} {
			b.Run(c.name+"/"+mode.name, func(b *testing.B) {
				box := newBox(b, func(o *Options) { o.NoNamespaces = mode.off; o.Debug = nil })
				dir := b.TempDir()
				var plain, boxed, plainCPU, boxedCPU []time.Duration
				if _, err := box.Run(b.Context(), c.cmd, Grant{Dir: dir, Inputs: c.input}); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					began := time.Now()
					cmd := exec.Command(c.plain[0], c.plain[1:]...)
					if err := cmd.Run(); err != nil {
						b.Fatal(err)
					}
					middle := time.Now()
					res, err := box.Run(b.Context(), c.cmd, Grant{Dir: dir, Inputs: c.input})
					if err != nil {
						b.Fatal(err)
					}
					plainCPU = append(plainCPU, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
					boxedCPU = append(boxedCPU, time.Duration(res.CPU)*time.Microsecond)
					plain, boxed = append(plain, middle.Sub(began)), append(boxed, time.Since(middle))
				}
				p, s := median(plain), median(boxed)
				b.ReportMetric(p.Seconds()*1e3, "plain-ms")
				b.ReportMetric(s.Seconds()*1e3, "sandbox-ms")
				b.ReportMetric((s-p).Seconds()*1e3, "over-ms")
				// On a busy machine processor time says more than the clock.
				b.ReportMetric(median(plainCPU).Seconds()*1e3, "plain-cpu-ms")
				b.ReportMetric(median(boxedCPU).Seconds()*1e3, "sandbox-cpu-ms")
			})
		}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
