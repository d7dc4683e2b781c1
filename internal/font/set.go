package font

import (
	"cmp"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/fontscan"

	"cutroom"
)

// Folders are where the renderer may read fonts: those that its sandbox grants. A font
// elsewhere would be measured here and replaced there.
func Folders() []string { return []string{"/usr/share/fonts", "/usr/local/share/fonts"} }

// Set is the fonts of this machine. They are looked for when they are first needed.
// It is safe for concurrent use.
type Set struct {
	folders []string
	cache   string
	scan    func() scanned

	mu       sync.Mutex
	faces    map[fontscan.Location]*Face
	pictures *pictureFont // opened when it is first needed
}

type scanned struct {
	prints []fontscan.Footprint
	color  []fontscan.Footprint // of pictures alone: the renderer draws nothing of them
	digest cutroom.Digest
	err    error
}

// NewSet returns the fonts that lie beneath folders. The index of what they cover is
// kept in the folder cache, which is made when it is not there.
func NewSet(cache string, folders ...string) *Set {
	s := &Set{folders: folders, cache: cache, faces: map[fontscan.Location]*Face{}}
	s.scan = sync.OnceValue(s.look)
	return s
}

// look reads the index and leaves out what lies elsewhere.
func (s *Set) look() scanned {
	dir := s.cache
	if err := os.MkdirAll(dir, 0o700); err != nil {
		if dir, err = os.MkdirTemp("", "cutroom-fonts-"); err != nil {
			return scanned{err: err}
		}
		defer os.RemoveAll(dir)
	}
	all, err := fontscan.SystemFonts(log.New(io.Discard, "", 0), dir)
	if err != nil {
		return scanned{err: err}
	}
	var out scanned
	var facts strings.Builder
	seen := map[string]bool{}
	for _, p := range all {
		if !slices.ContainsFunc(s.folders, func(f string) bool { return strings.HasPrefix(p.Location.File, f+"/") }) {
			continue
		}
		if pictures(p) {
			out.color = append(out.color, p)
		} else {
			out.prints = append(out.prints, p)
		}
		if !seen[p.Location.File] {
			seen[p.Location.File] = true
			if info, err := os.Stat(p.Location.File); err == nil {
				fmt.Fprintf(&facts, "%s %d %d\n", p.Location.File, info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	for _, list := range [][]fontscan.Footprint{out.prints, out.color} {
		slices.SortFunc(list, func(a, b fontscan.Footprint) int {
			return cmp.Or(strings.Compare(a.Location.File, b.Location.File), cmp.Compare(a.Location.Index, b.Location.Index))
		})
	}
	lines := slices.Sorted(strings.Lines(facts.String()))
	out.digest = cutroom.DigestOf([]byte(strings.Join(lines, "")))
	return out
}

// Fingerprint identifies the fonts by their files' paths, sizes and times: where it is
// another, the same text may be drawn otherwise. It is empty where there are none.
func (s *Set) Fingerprint() cutroom.Digest {
	if got := s.scan(); got.err == nil && len(got.prints) > 0 {
		return got.digest
	}
	return ""
}

// Find returns the face that draws every visible character of text: of family where
// that is named and covers it, else the one that suits the scripts of the text.
// language, a BCP 47 tag or empty, chooses among the regional forms of Han. The error
// is missing_dependency: the family is not installed, or no face covers the text.
func (s *Set) Find(family, language, text string, bold bool) (*Face, error) {
	got := s.scan()
	if got.err != nil || len(got.prints) == 0 {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "no fonts are installed on this machine").
			WithHint("install fonts-dejavu-core, and fonts-noto-core for other scripts than Latin, Greek and Cyrillic").WithCause(got.err)
	}
	want := font.NormalizeFamily(family)
	if family != "" && !slices.ContainsFunc(got.prints, func(p fontscan.Footprint) bool { return p.Family == want }) {
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the font %q is not installed", family).
			WithHint("install it for the whole system (/usr/share/fonts), or leave font out: one is chosen by the text")
	}
	order := preferred(want, language, text)
	var best *fontscan.Footprint
	var bestRank []int
	for i := range got.prints {
		p := &got.prints[i]
		if !covers(p.Runes, text) {
			continue
		}
		if r := rank(p, order, bold); best == nil || slices.Compare(r, bestRank) < 0 {
			best, bestRank = p, r
		}
	}
	if best == nil {
		return nil, missing(got.prints, text)
	}
	return s.load(*best)
}

// rank orders the faces that cover a text; the smallest wins. Among equals the first
// file does.
func rank(p *fontscan.Footprint, order []string, bold bool) []int {
	place := slices.Index(order, p.Family)
	if place < 0 {
		place = len(order)
	}
	plain := 0
	for _, s := range []string{"mono", "serif", "math", "condensed", "display"} {
		if strings.Contains(p.Family, s) {
			plain++
		}
	}
	if strings.Contains(p.Family, "sansserif") {
		plain--
	}
	slanted, stretched := 0, 0
	if p.Aspect.Style != font.StyleNormal {
		slanted = 1
	}
	if p.Aspect.Stretch != font.StretchNormal {
		stretched = 1
	}
	weight := font.WeightNormal
	if bold {
		weight = font.WeightBold
	}
	off := int(p.Aspect.Weight - weight)
	return []int{place, plain, slanted, stretched, max(off, -off)}
}

// load opens a face, once.
func (s *Set) load(p fontscan.Footprint) (*Face, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.faces[p.Location]; f != nil {
		return f, nil
	}
	file, err := os.Open(p.Location.File)
	if err != nil {
		return nil, unreadable(p, err)
	}
	defer file.Close()
	f, err := open(file, p)
	if err != nil {
		return nil, unreadable(p, err)
	}
	s.faces[p.Location] = f
	return f, nil
}

func unreadable(p fontscan.Footprint, err error) error {
	return cutroom.Errorf(cutroom.MissingDependency, "the font file %q cannot be read", filepath.Base(p.Location.File)).WithCause(err).
		WithHint("install the font again, or name another one")
}
