package evidence

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/language"
)

// sidecarSuffixes are the suffixes of sidecar transcripts, in order.
var sidecarSuffixes = []string{".vtt", ".srt", ".txt"}

// SidecarNames returns which names of listing (the media file's own folder) are
// transcripts of media, best first: name.vtt, name.srt, name.txt, then language
// variants such as name.en.vtt in the same order of suffixes, plain ones before
// those for the hard of hearing or forced ones, then by name. When a language is
// asked for, variants in it come before all others, and variants in other
// languages are left out; names are compared exactly, suffixes in any case.
func SidecarNames(media string, listing []string, lang string) []string {
	base := strings.TrimSuffix(media, suffix(media))
	want, wantErr := language.Parse(lang)
	type candidate struct {
		name  string
		order [3]int // variant or plain, decoration, suffix
	}
	var found []candidate
	for _, name := range listing {
		ext := suffix(name)
		at := slices.Index(sidecarSuffixes, strings.ToLower(ext))
		stem := strings.TrimSuffix(name, ext)
		if at < 0 || name == media {
			continue
		}
		if stem == base {
			found = append(found, candidate{name, [3]int{1, 0, at}})
			continue
		}
		middle, ok := strings.CutPrefix(stem, base+".")
		if !ok {
			continue
		}
		tag, extra, ok := variant(middle)
		switch {
		case !ok:
		case lang == "":
			found = append(found, candidate{name, [3]int{2, extra, at}})
		case wantErr == nil && sameLanguage(want, tag):
			found = append(found, candidate{name, [3]int{0, extra, at}})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(slices.Compare(a.order[:], b.order[:]), strings.Compare(a.name, b.name))
	})
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.name
	}
	return names
}

// SidecarLanguage returns the language that a sidecar's name tells ("en" of
// clip.en.vtt beside clip.mp4), "" when it tells none.
func SidecarLanguage(media, sidecar string) string {
	stem := strings.TrimSuffix(sidecar, suffix(sidecar))
	middle, ok := strings.CutPrefix(stem, strings.TrimSuffix(media, suffix(media))+".")
	if !ok {
		return ""
	}
	tag, _, ok := variant(middle)
	if !ok {
		return ""
	}
	return tag.String()
}

// suffix returns the part of a file name from its last point on. A name that
// begins with its only point has none.
func suffix(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[i:]
	}
	return ""
}

// variant reads what stands between the media's name and the suffix: a language,
// and after it words such as sdh, cc, forced. extra counts those words.
func variant(middle string) (tag language.Tag, extra int, ok bool) {
	parts := strings.Split(strings.ToLower(middle), ".")
	tag, err := language.Parse(strings.ReplaceAll(parts[0], "_", "-"))
	if err != nil {
		return language.Und, 0, false
	}
	for _, p := range parts[1:] {
		if !slices.Contains([]string{"sdh", "cc", "forced", "hi", "auto", "orig"}, p) {
			return language.Und, 0, false
		}
	}
	return tag, len(parts) - 1, true
}

func sameLanguage(a, b language.Tag) bool {
	x, _ := a.Base()
	y, _ := b.Base()
	return x == y
}
