package ffmpeg

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Abilities is what one ffmpeg binary can do, read from the binary itself. The zero
// value knows nothing and lacks everything.
type Abilities struct {
	Version      string   `json:"version" doc:"Version as the program prints it."`
	Major, Minor int      `json:"-"`
	Filters      []string `json:"filters" doc:"Names of the filters."`
	Encoders     []string `json:"encoders" doc:"Names of the encoders."`
	Decoders     []string `json:"decoders" doc:"Names of the decoders."`
	BSFs         []string `json:"bsfs" doc:"Names of the bitstream filters."`
	Formats      []string `json:"formats,omitempty" doc:"Names of the muxers and demuxers."`

	sets map[string]map[string]bool
}

// AbilityCommands returns the runs whose standard outputs [ParseAbilities] reads, in
// its order.
func AbilityCommands() []argv.Command {
	var cs []argv.Command
	for _, q := range []string{"-filters", "-encoders", "-decoders", "-bsfs", "-version"} {
		cs = append(cs, argv.Command{
			Step: "abilities" + q, Program: "ffmpeg", Stage: "reading what ffmpeg can do",
			Args:   argv.Words("-hide_banner", q),
			Limits: argv.Limits{StdoutCap: 1 << 20},
		})
	}
	return cs
}

var versionLine = regexp.MustCompile(`^ff\w+ version (\S+)`)

// ParseAbilities reads the outputs of -filters, -encoders, -decoders, -bsfs and
// -version. It needs the version line and at least one filter and decoder.
func ParseAbilities(filters, encoders, decoders, bsfs, version []byte) (Abilities, error) {
	a := Abilities{
		Filters:  column(filters, 2, true),
		Encoders: column(encoders, 2, false),
		Decoders: column(decoders, 2, false),
		BSFs:     column(bsfs, 1, false),
	}
	m := versionLine.FindStringSubmatch(string(version))
	if m == nil {
		return a, fmt.Errorf("ffmpeg printed no version line")
	}
	a.Version = m[1]
	a.Major, a.Minor = versionNumber(m[1])
	if len(a.Filters) == 0 || len(a.Decoders) == 0 {
		return a, fmt.Errorf("ffmpeg %s printed no list of filters or decoders", a.Version)
	}
	a.index()
	return a, nil
}

func (a *Abilities) index() {
	a.sets = map[string]map[string]bool{}
	for kind, names := range map[string][]string{"filter": a.Filters, "encoder": a.Encoders, "decoder": a.Decoders, "bsf": a.BSFs} {
		set := make(map[string]bool, len(names))
		for _, n := range names {
			set[n] = true
		}
		a.sets[kind] = set
	}
}

// versionNumber reads "5.1.9-0+deb12u1", "n7.1", "8.0". A build from a repository
// ("N-109542-g…", a date) counts as newer than every release.
func versionNumber(s string) (major, minor int) {
	s = strings.TrimPrefix(s, "n")
	head, rest, _ := strings.Cut(s, ".")
	major, err := strconv.Atoi(head)
	if err != nil || major > 1000 {
		return 999, 0
	}
	for i := 0; i < len(rest) && rest[i] >= '0' && rest[i] <= '9' && i < 4; i++ {
		minor = minor*10 + int(rest[i]-'0')
	}
	return major, minor
}

// column returns the n-th word (1-based) of each entry line of a list. Entries of
// -filters have a flags word without the ruler line that the codec lists print.
func column(out []byte, n int, filters bool) []string {
	var names []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < n || !strings.HasPrefix(line, " ") && n > 1 {
			continue
		}
		if n == 1 {
			if len(f) == 1 && !strings.HasSuffix(f[0], ":") {
				names = append(names, f[0])
			}
			continue
		}
		if f[1] == "=" || filters && (len(f) < 3 || !strings.Contains(f[2], "->")) {
			continue
		}
		names = append(names, f[n-1])
	}
	return names
}

func (a *Abilities) has(kind, name string) bool {
	if a.sets == nil { // decoded from a cache
		a.index()
	}
	return a.sets[kind][name]
}

// Filter reports whether the filter is there.
func (a *Abilities) Filter(name string) bool { return a.has("filter", name) }

// Encoder reports whether the encoder is there.
func (a *Abilities) Encoder(name string) bool { return a.has("encoder", name) }

// Decoder reports whether the decoder is there.
func (a *Abilities) Decoder(name string) bool { return a.has("decoder", name) }

// BSF reports whether the bitstream filter is there.
func (a *Abilities) BSF(name string) bool { return a.has("bsf", name) }

// AtLeast reports whether the binary is of version major.minor or newer.
func (a *Abilities) AtLeast(major, minor int) bool {
	return a.Major > major || a.Major == major && a.Minor >= minor
}

// FrameRateMode returns the option that says how frames are duplicated or dropped,
// in the form this binary takes: -fps_mode since 5.1, -vsync before. Nil abilities
// stand for a new binary.
func (a *Abilities) FrameRateMode(mode string) []argv.Atom {
	if a == nil || a.AtLeast(5, 1) {
		return argv.Words("-fps_mode", mode)
	}
	return argv.Words("-vsync", mode)
}

// Missing returns the names of filters that are not there, as an error for a caller.
func (a *Abilities) Missing(filters ...string) error {
	for _, f := range filters {
		if !a.Filter(f) {
			return cutroom.Errorf(cutroom.MissingDependency, "this ffmpeg (%s) has no filter %s", a.Version, f).
				WithHint("install a full build of ffmpeg 5.1 or newer; `cutroom doctor` lists what is missing")
		}
	}
	return nil
}
