package argv

import (
	"slices"
	"strings"
)

// ffmpeg is the grammar of ffmpeg(1): groups of options, each ending with `-i url` or
// with an output. The protocol list has to stand in every input's own group, because
// ffmpeg forgets options from one group to the next.
func (c *checker) ffmpeg() error {
	var nostdin, whitelist bool
	var format string
	for {
		a, ok := c.next()
		if !ok {
			break
		}
		if a == "-" || !strings.HasPrefix(a, "-") {
			if format == concat {
				return refuse("%s writes nothing", concat)
			}
			if err := c.output(a); err != nil {
				return err
			}
			whitelist, format = false, ""
			continue
		}
		if a == "-i" {
			if err := c.ffmpegInput(whitelist, format); err != nil {
				return err
			}
			whitelist, format = false, ""
			continue
		}
		name, value, err := c.option(a)
		if err != nil {
			return err
		}
		switch name {
		case "-nostdin":
			nostdin = true
		case "-protocol_whitelist":
			whitelist = value == "file"
		case "-f":
			format = value
		}
	}
	if whitelist {
		return refuse("options behind the last file")
	}
	if !nostdin {
		return refuse("-nostdin is missing")
	}
	return nil
}

// ffmpegInput checks the value of -i.
func (c *checker) ffmpegInput(whitelist bool, format string) error {
	url, ok := c.next()
	if !ok {
		return refuse("-i has no value")
	}
	if format == "lavfi" {
		return checkGraph(url, c.grants)
	}
	if !whitelist {
		return refuse("an input without -protocol_whitelist file")
	}
	if format == concat && !slices.Contains(c.grants.Lists, url) {
		return refuse("%q is not a list of files that the run brings with it", clip(url))
	}
	return c.value(Option{Kind: FromInput}, url)
}

// concat is the demuxer that opens the files of a list one after another.
const concat = "concat"

// listsFiles reports whether data is a list for the concat demuxer (ffmpeg-formats(1),
// "concat") that names files of the private folder only, and how long each lasts. The
// demuxer is left safe, so it refuses other names itself.
func listsFiles(data []byte) bool {
	first, rest, ok := strings.Cut(string(data), "\n")
	if !ok || first != "ffconcat version 1.0" || rest == "" {
		return false
	}
	for line := range strings.Lines(rest) {
		word, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if word == "file" && SafeName(value) || word == "duration" && isDecimal(value) {
			continue
		}
		return false
	}
	return true
}

// output checks the name of an output.
func (c *checker) output(a string) error {
	if c.grants.pipe(a) || SafeName(a) {
		return nil
	}
	return refuse("%q is not a granted output", clip(a))
}

// ffprobe is the grammar of ffprobe(1): options in any order and one input.
func (c *checker) ffprobe() error {
	var whitelist, lavfi bool
	inputs := 0
	for {
		a, ok := c.next()
		if !ok {
			break
		}
		if a == "-" || !strings.HasPrefix(a, "-") {
			if err := c.value(Option{Kind: FromInput}, a); err != nil {
				return err
			}
			inputs++
			continue
		}
		name, value, err := c.option(a)
		if err != nil {
			return err
		}
		switch name {
		case "-i":
			inputs++
		case "-protocol_whitelist":
			whitelist = value == "file"
		case "-f":
			lavfi = value == "lavfi" || value == concat
		}
	}
	if inputs != 1 || !whitelist || lavfi {
		return refuse("one input with -protocol_whitelist file is needed")
	}
	return nil
}
