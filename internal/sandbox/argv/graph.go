package argv

import "strings"

// checkGraph reads a filter graph as libavfilter does (ffmpeg-filters(1), "Filtergraph
// syntax"): chains and filters separated by ; and , with link labels in brackets, and
// two levels of quoting. It refuses filters that are not known, and options that
// name a file outside the private folder.
func checkGraph(graph string, g Grants) error {
	p := &graphReader{rest: graph}
	for {
		if err := p.filter(g); err != nil {
			return err
		}
		p.space()
		if p.rest == "" {
			return nil
		}
		if p.rest[0] != ',' && p.rest[0] != ';' {
			return refuse("filter graph: unexpected %q", clip(p.rest))
		}
		p.rest = p.rest[1:]
	}
}

// graphReader takes a filter graph apart.
type graphReader struct{ rest string }

// blanks are what libavfilter skips between the parts of a graph.
const blanks = " \n\t\r"

func (p *graphReader) space() { p.rest = strings.TrimLeft(p.rest, blanks) }

// filter reads `[in]… name=options [out]…`.
func (p *graphReader) filter(g Grants) error {
	p.space()
	p.scalerFlags()
	p.labels()
	name := head(p.rest, "_")
	if name == "" {
		return refuse("filter graph: no filter at %q", clip(p.rest))
	}
	p.rest = p.rest[len(name):]
	if strings.HasPrefix(p.rest, "@") { // an instance's name
		p.rest = p.rest[1+len(head(p.rest[1:], "_")):]
	}
	facts, known := filters()[name]
	if !known {
		return refuse("filter %q is not allowed", name)
	}
	if strings.HasPrefix(p.rest, "=") {
		p.rest = p.rest[1:]
		if err := facts.options(name, p.token("[],;"), g); err != nil {
			return err
		}
	}
	p.labels()
	return nil
}

// scalerFlags takes `sws_flags=…;` off, with which a graph may begin.
func (p *graphReader) scalerFlags() {
	if after, found := strings.CutPrefix(p.rest, "sws_flags="); found {
		flags := head(after, "_+")
		if strings.HasPrefix(after[len(flags):], ";") {
			p.rest = after[len(flags)+1:]
			p.space()
		}
	}
}

func (p *graphReader) labels() {
	p.space()
	for {
		l := linkLabel(p.rest)
		if l == "" {
			return
		}
		p.rest = p.rest[len(l):]
		p.space()
	}
}

// token reads up to one of the characters of end and takes off one level of quoting,
// as av_get_token does: a backslash keeps the next character, single quotes keep all
// but themselves, blanks at both ends fall away unless they were quoted.
func (p *graphReader) token(end string) string {
	var b strings.Builder
	keep := 0 // length up to which blanks are quoted
	s := strings.TrimLeft(p.rest, blanks)
	i := 0
	for i < len(s) && strings.IndexByte(end, s[i]) < 0 {
		c := s[i]
		i++
		switch {
		case c == '\\' && i < len(s):
			b.WriteByte(s[i])
			i++
			keep = b.Len()
		case c == '\'':
			for i < len(s) && s[i] != '\'' {
				b.WriteByte(s[i])
				i++
			}
			if i < len(s) {
				i++
				keep = b.Len()
			}
		default:
			b.WriteByte(c)
		}
	}
	p.rest = s[i:]
	out := b.String()
	return out[:keep] + strings.TrimRight(out[keep:], blanks)
}

// filterFacts says which options of a filter name a file, and in which order options
// without a name are taken.
type filterFacts struct {
	order []string // names of the options given without one; nil: none can be a file
}

// options checks the options of one filter, given with the second level of quoting.
func (f filterFacts) options(name, opts string, g Grants) error {
	p := &graphReader{rest: opts}
	seen := map[string]string{}
	for n := 0; p.rest != ""; n++ {
		key, hasKey, bad := p.key()
		if bad {
			return refuse("filter %s: option %q is not allowed", name, clip(key))
		}
		value := p.token(":")
		p.rest = strings.TrimPrefix(p.rest, ":")
		switch {
		case hasKey:
		case n < len(f.order):
			key = f.order[n]
		case f.order != nil:
			return refuse("filter %s: option %q needs its name", name, clip(value))
		}
		if err := checkFilterOption(name, key, value, g); err != nil {
			return err
		}
		seen[key] = value
	}
	// Text from a file may be anybody's, so it must not be expanded.
	if name == "drawtext" && seen["textfile"] != "" && seen["expansion"] != "none" {
		return refuse("filter drawtext: textfile needs expansion=none")
	}
	return nil
}

// key takes `key=` off the rest, if it begins so. bad tells a key that no filter of
// ours has: libavutil takes - . and / for key characters too, and a leading slash
// makes newer versions read the value from a file.
func (p *graphReader) key() (key string, has, bad bool) {
	s := strings.TrimLeft(p.rest, blanks)
	key = head(s, "_-./")
	s = strings.TrimLeft(s[len(key):], blanks)
	if key == "" || !strings.HasPrefix(s, "=") {
		return "", false, false
	}
	p.rest = s[1:]
	return key, true, !only(key, "_", 64)
}

// opensFile reports whether an option's name says that its value is a file; where
// the name does not, the filter has a row of its own.
func opensFile(filter, key string) bool {
	if strings.Contains(key, "file") || strings.Contains(key, "path") || strings.Contains(key, "url") {
		return true
	}
	switch filter {
	case "paletteuse":
		return key == "debug_kdtree"
	case "curves":
		return key == "plot"
	case "psnr", "ssim":
		return key == "f"
	case "vidstabdetect":
		return key == "result"
	case "vidstabtransform":
		return key == "input"
	case "subtitles", "ass":
		return key == "f" || key == "fontsdir"
	}
	return false
}

// checkFilterOption checks one option of a filter.
func checkFilterOption(filter, key, value string, g Grants) error {
	if strings.ContainsAny(value, "\x00\n\r") {
		return refuse("filter %s: control characters in %s", filter, key)
	}
	if !opensFile(filter, key) {
		// An option that is no file's has no use for a path.
		if key != "text" && (strings.HasPrefix(value, "/") || strings.Contains(value, ":/") || strings.Contains(value, "=/")) {
			return refuse("filter %s: %s=%q looks like a path", filter, key, clip(value))
		}
		return nil
	}
	switch {
	case SafeName(value):
		return nil
	case g.pipe(value) && (filter == "metadata" || filter == "ametadata" || filter == "psnr" || filter == "ssim"):
		return nil
	case g.isData(value) && (key == "fontfile" || key == "fontsdir" || key == "file"):
		return nil
	}
	return refuse("filter %s: %s=%q is not a file of the private folder", filter, key, clip(value))
}
