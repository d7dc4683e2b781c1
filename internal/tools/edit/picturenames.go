package edit

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cutroom"
	"cutroom/internal/tool"
)

// mostPictures is how many pictures a sequence has at most.
const mostPictures = 2000

// pattern is what the names of a folder's pictures look like.
type pattern struct {
	glob       string
	head, tail string // around the number, where glob is ""
	width      int    // digits that the number has at least
	from       int
}

var numberedName = regexp.MustCompile(`^([^%*?\[]*)%(?:0([1-9]))?d([^%*?\[]*)$`)

// newPattern reads frame-%04d.png or *.png.
func newPattern(text string, from *int) (pattern, error) {
	bad := func(hint, format string, args ...any) (pattern, error) {
		return pattern{}, cutroom.Errorf(cutroom.Invalid, "pattern %q: %s", text, fmt.Sprintf(format, args...)).WithHint("%s", hint)
	}
	if strings.ContainsRune(text, '/') {
		return bad("name the folder as dir", "it names another folder")
	}
	if m := numberedName.FindStringSubmatch(text); m != nil {
		p := pattern{head: m[1], tail: m[3]}
		p.width, _ = strconv.Atoi(m[2])
		if from != nil {
			p.from = *from
		}
		return p, nil
	}
	if from != nil {
		return bad("write the number as %d or %04d, or leave start_number out", "it has no number to start from")
	}
	if _, err := path.Match(text, ""); err != nil || strings.ContainsRune(text, '%') {
		return bad("write frame-%04d.png, or *.png", "it is no pattern")
	}
	return pattern{glob: text}, nil
}

// number is the number in a name, and whether the pattern names it.
func (p pattern) number(name string) (int, bool) {
	if p.glob != "" {
		ok, err := path.Match(p.glob, name)
		return 0, ok && err == nil
	}
	digits, ok := strings.CutPrefix(name, p.head)
	if digits, ok = cutSuffix(digits, p.tail, ok); !ok || len(digits) < max(1, p.width) || len(digits) > 9 || len(digits) > max(1, p.width) && digits[0] == '0' && p.width > 0 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	return int(n), err == nil && int(n) >= p.from
}

func cutSuffix(s, suffix string, ok bool) (string, bool) {
	rest, found := strings.CutSuffix(s, suffix)
	return rest, ok && found
}

// pictureSuffixes are those of pictures, where nothing else says which files are meant.
var pictureSuffixes = []string{".png", ".jpg", ".jpeg", ".webp", ".bmp"}

// named are the names that the pattern names, in the order of their numbers; of a glob,
// naturally sorted.
func (p pattern) named(names []string) (list []string) {
	number := map[string]int{}
	for _, n := range names {
		if k, ok := p.number(n); ok {
			list, number[n] = append(list, n), k
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(number[a], number[b]), naturally(a, b)) })
	return list
}

// expandSequence finds the pictures of the folder.
func expandSequence(in SequenceInput, r tool.Reading) (SequenceInput, error) {
	if in.Dir == "" {
		return in, nil
	}
	names, err := r.List(in.Dir)
	if err != nil {
		return in, err
	}
	if in.Pattern == "" {
		names = slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(pictureSuffixes, strings.ToLower(path.Ext(n))) })
		slices.SortFunc(names, naturally)
	} else {
		p, err := newPattern(in.Pattern, in.StartNumber)
		if err != nil {
			return in, err
		}
		names = p.named(names)
	}
	switch {
	case len(names) == 0:
		return in, cutroom.Errorf(cutroom.NotFound, "the folder %q holds no such picture", in.Dir).WithHint("check dir and pattern")
	case len(names) > mostPictures:
		return in, cutroom.Errorf(cutroom.Limit, "the folder %q holds %d such pictures, and a sequence has at most %d", in.Dir, len(names), mostPictures).WithHint("make several sequences by patterns, and join them")
	}
	for _, n := range names {
		in.Inputs = append(in.Inputs, cutroom.InPath(path.Join(string(in.Dir), n)))
	}
	if in.Output == "" {
		after := in.Inputs[0]
		if dir := path.Clean(string(in.Dir)); dir != "." && dir != "/" && path.Base(dir) != ".." {
			after = cutroom.InPath(dir)
		}
		in.Output = tool.NameAfter(after, "sequence", ".mp4")
	}
	in.Dir, in.Pattern, in.StartNumber = "", "", nil
	return in, nil
}

// naturally compares names, numbers in them by their value.
func naturally(a, b string) int {
	for a != "" && b != "" {
		x, restA, numA := chunk(a)
		y, restB, numB := chunk(b)
		var c int
		if numA && numB {
			u, v := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			c = cmp.Or(cmp.Compare(len(u), len(v)), strings.Compare(u, v), cmp.Compare(len(x), len(y)))
		} else {
			c = strings.Compare(x, y)
		}
		if c != 0 {
			return c
		}
		a, b = restA, restB
	}
	return cmp.Compare(len(a), len(b))
}

// chunk splits off the digits, or what are none, that a name begins with.
func chunk(s string) (head, rest string, number bool) {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	number = digit(s[0])
	i := 1
	for i < len(s) && digit(s[i]) == number {
		i++
	}
	return s[:i], s[i:], number
}

// missing names the first number that is left out between names that count on.
func missing(names []cutroom.InPath) string {
	last, lastName := -1, ""
	for _, n := range names {
		base := path.Base(string(n))
		stem := strings.TrimSuffix(base, path.Ext(base))
		i := len(stem)
		for i > 0 && stem[i-1] >= '0' && stem[i-1] <= '9' {
			i--
		}
		if i == len(stem) || len(stem)-i > 9 {
			return ""
		}
		var k int
		fmt.Sscan(strings.TrimLeft(stem[i:], "0")+"", &k)
		if last >= 0 && k > last+1 {
			return fmt.Sprintf("behind %s the next is %s: what lies between is missing, and time passes over it", lastName, base)
		}
		last, lastName = k, base
	}
	return ""
}
