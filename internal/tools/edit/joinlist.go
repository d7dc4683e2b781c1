package edit

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"cutroom"
	"cutroom/internal/tool"
)

// Bounds of a list of inputs.
const (
	maxList    = 256 << 10
	mostListed = 200
	listHint   = "write one file a line, from the list's own folder on"
	byteMarker = "\uFEFF"
)

// expandJoin reads the list and leaves out what is not there, where that is asked for.
func expandJoin(in JoinInput, r tool.Reading) (JoinInput, error) {
	if in.List != "" {
		text, err := r.Read(in.List, maxList)
		if err != nil {
			return in, err
		}
		if in.Inputs, err = listed(text, in.List); err != nil {
			return in, err
		}
		in.List = ""
	}
	if in.OnMissing == "skip" {
		var there []cutroom.InPath
		for _, p := range in.Inputs {
			ok, err := r.Has(p)
			if err != nil {
				return in, err
			}
			if ok {
				there = append(there, p)
			} else {
				in.Missing = append(in.Missing, string(p))
			}
		}
		if len(there) < 2 {
			return in, cutroom.Errorf(cutroom.NotFound, "not two of the inputs are there: %s", strings.Join(in.Missing, ", ")).WithHint("check the names")
		}
		in.Inputs = there
	}
	return nameJoined(in), nil
}

// listed are the inputs that a list names.
func listed(text []byte, list cutroom.InPath) (names []cutroom.InPath, err error) {
	bad := func(format string, args ...any) ([]cutroom.InPath, error) {
		return nil, cutroom.Errorf(cutroom.Invalid, "list %q: %s", list, fmt.Sprintf(format, args...)).WithHint(listHint)
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return bad("it is no text")
	}
	for line := range strings.Lines(strings.TrimPrefix(string(text), byteMarker)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if len(names) == mostListed {
			return bad("it names more than %d files", mostListed)
		}
		if !path.IsAbs(line) {
			line = path.Join(path.Dir(string(list)), line)
		}
		names = append(names, cutroom.InPath(line))
	}
	if len(names) < 2 {
		return bad("it names %d files, and a join needs two or more", len(names))
	}
	return names, nil
}
