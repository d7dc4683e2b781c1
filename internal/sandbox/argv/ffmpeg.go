package argv

import "strings"

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
	return c.value(Option{Kind: FromInput}, url)
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
			lavfi = value == "lavfi"
		}
	}
	if inputs != 1 || !whitelist || lavfi {
		return refuse("one input with -protocol_whitelist file is needed")
	}
	return nil
}
