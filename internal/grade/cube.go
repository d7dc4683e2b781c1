package grade

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"cutroom"
)

// Limits of a table that is read.
const (
	MaxCubeBytes = 96 << 20
	maxSide      = 129   // of a table of three dimensions
	maxLine      = 65536 // entries of one of one dimension
)

// Cube is a colour table in the form of Adobe's "Cube LUT Specification" 1.0: of one
// dimension for each channel, or of three.
type Cube struct {
	Lines    bool // one dimension for each channel
	Size     int  // entries of a side
	Min, Max Color
	Table    []Color // red changes fastest
}

// ParseCube reads a table. What is wrong with it is an error for the caller, with the
// number of the line.
func ParseCube(data []byte) (*Cube, error) {
	c := &Cube{Max: Color{1, 1, 1}}
	sc := bufio.NewScanner(io.LimitReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), MaxCubeBytes+1))
	sc.Buffer(make([]byte, 0, 4096), 1<<16)
	n := 0
	for sc.Scan() {
		n++
		if err := c.line(strings.TrimSpace(sc.Text())); err != nil {
			return nil, cutroom.Errorf(cutroom.Invalid, "the colour table is damaged in line %d: %s", n, err).WithHint("give a .cube file with LUT_3D_SIZE or LUT_1D_SIZE and as many lines of three numbers as that says")
		}
	}
	if err := sc.Err(); err != nil {
		return nil, cutroom.Errorf(cutroom.Invalid, "the colour table has lines longer than 64 kB").WithHint("give a text file in the .cube form")
	}
	return c, c.complete()
}

// complete refuses a table that lacks entries.
func (c *Cube) complete() error {
	switch want := c.entries(); {
	case c.Size == 0:
		return cutroom.Errorf(cutroom.Invalid, "the file is no colour table: it states no size").WithHint("give a .cube file, which has a line LUT_3D_SIZE or LUT_1D_SIZE")
	case len(c.Table) != want:
		return cutroom.Errorf(cutroom.Invalid, "the colour table has %d entries, and its size %d needs %d", len(c.Table), c.Size, want).WithHint("export it again; it is cut off or has lines too many")
	}
	for i := range c.Min {
		if !(c.Max[i] > c.Min[i]) {
			return cutroom.Errorf(cutroom.Invalid, "the domain of the colour table is empty").WithHint("DOMAIN_MAX has to be larger than DOMAIN_MIN")
		}
	}
	return nil
}

func (c *Cube) entries() int {
	if c.Lines {
		return c.Size
	}
	return c.Size * c.Size * c.Size
}

// line reads one line.
func (c *Cube) line(s string) error {
	if s == "" || s[0] == '#' {
		return nil
	}
	words := strings.Fields(s)
	switch words[0] {
	case "TITLE", "LUT_3D_INPUT_RANGE", "LUT_1D_INPUT_RANGE":
		if words[0] == "TITLE" {
			return nil
		}
		return c.inputRange(words[1:])
	case "LUT_3D_SIZE":
		return c.size(words[1:], false)
	case "LUT_1D_SIZE":
		return c.size(words[1:], true)
	case "DOMAIN_MIN", "DOMAIN_MAX":
		v, err := numbers(words[1:])
		if words[0] == "DOMAIN_MIN" {
			c.Min = v
		} else {
			c.Max = v
		}
		return err
	}
	v, err := numbers(words)
	switch {
	case err != nil:
		return err
	case c.Size == 0:
		return fmt.Errorf("an entry before the size")
	case len(c.Table) >= c.entries():
		return fmt.Errorf("more entries than the size says")
	}
	c.Table = append(c.Table, v)
	return nil
}

// inputRange reads the two numbers with which some programs state the domain.
func (c *Cube) inputRange(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("a range is two numbers")
	}
	v, err := numbers([]string{words[0], words[1], "0"})
	c.Min, c.Max = Color{v[0], v[0], v[0]}, Color{v[1], v[1], v[1]}
	return err
}

func (c *Cube) size(words []string, lines bool) error {
	if len(words) != 1 || c.Size != 0 {
		return fmt.Errorf("one size is stated, once")
	}
	n, err := strconv.Atoi(words[0])
	most := maxSide
	if lines {
		most = maxLine
	}
	if err != nil || n < 2 || n > most {
		return fmt.Errorf("a size is a whole number from 2 to %d", most)
	}
	c.Size, c.Lines = n, lines
	return nil
}

// numbers reads three numbers.
func numbers(words []string) (v Color, err error) {
	if len(words) != 3 {
		return v, fmt.Errorf("three numbers are wanted, or a word of the .cube form")
	}
	for i, w := range words {
		f, err := strconv.ParseFloat(w, 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > 1e4 {
			return v, fmt.Errorf("a value that is no number")
		}
		v[i] = f
	}
	return v, nil
}

// Text writes the table in the .cube form, with nothing of what it was read from but
// its numbers.
func (c *Cube) Text() []byte {
	var b bytes.Buffer
	word := "LUT_3D_SIZE"
	if c.Lines {
		word = "LUT_1D_SIZE"
	}
	fmt.Fprintf(&b, "%s %d\n", word, c.Size)
	if c.Min != (Color{}) || c.Max != (Color{1, 1, 1}) {
		fmt.Fprintf(&b, "DOMAIN_MIN %g %g %g\nDOMAIN_MAX %g %g %g\n", c.Min[0], c.Min[1], c.Min[2], c.Max[0], c.Max[1], c.Max[2])
	}
	line := make([]byte, 0, 64)
	for _, v := range c.Table {
		line = line[:0]
		for i, x := range v {
			if i > 0 {
				line = append(line, ' ')
			}
			line = strconv.AppendFloat(line, x, 'f', 6, 64)
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// Mixed returns the table at a strength: 0 changes nothing, 1 is the table itself.
func (c *Cube) Mixed(strength float64) *Cube {
	m := &Cube{Lines: c.Lines, Size: c.Size, Min: c.Min, Max: c.Max, Table: make([]Color, len(c.Table))}
	for i, v := range c.Table {
		at := [3]int{i, i, i}
		if !c.Lines {
			at = [3]int{i % c.Size, i / c.Size % c.Size, i / c.Size / c.Size}
		}
		for k := range v {
			same := c.Min[k] + (c.Max[k]-c.Min[k])*float64(at[k])/float64(c.Size-1)
			m.Table[i][k] = same + (v[k]-same)*strength
		}
	}
	return m
}

// At returns what the table makes of a colour: linear between entries in one dimension,
// tetrahedral in three. What lies outside of the domain counts as its edge.
func (c *Cube) At(in Color) Color {
	var lo [3]int
	var part [3]float64
	for k, x := range in {
		p := clamp((x-c.Min[k])/(c.Max[k]-c.Min[k])) * float64(c.Size-1)
		lo[k] = min(int(p), c.Size-2)
		part[k] = p - float64(lo[k])
	}
	if c.Lines {
		var out Color
		for k := range out {
			a, b := c.Table[lo[k]][k], c.Table[lo[k]+1][k]
			out[k] = clamp(a + (b-a)*part[k])
		}
		return out
	}
	return c.tetrahedral(lo, part)
}

// tetrahedral walks from the lower corner of a cell to the upper one along the axes, the
// largest part first.
func (c *Cube) tetrahedral(lo [3]int, part [3]float64) Color {
	order := [3]int{0, 1, 2}
	for i := range order {
		for j := i + 1; j < 3; j++ {
			if part[order[j]] > part[order[i]] {
				order[i], order[j] = order[j], order[i]
			}
		}
	}
	entry := func(p [3]int) Color { return c.Table[p[0]+c.Size*(p[1]+c.Size*p[2])] }
	out := entry(lo)
	for _, axis := range order {
		before := entry(lo)
		lo[axis]++
		after := entry(lo)
		for k := range out {
			out[k] += (after[k] - before[k]) * part[axis]
		}
	}
	for k := range out {
		out[k] = clamp(out[k])
	}
	return out
}
