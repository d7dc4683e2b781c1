package graph

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"cutroom/internal/ffmpeg"
)

// bars is the chain that sets a picture of w×h, in the format of f, at x, y of f's frame
// on a ground of one colour. Black is black in every matrix; any other colour is
// converted as a picture is, once, and stands beside the frames: ffmpeg's pad filter
// counts in BT.601 whatever the picture is (before release 7), and there are no such
// values for much of what BT.709 holds.
func (c *compiler) bars(color string, w, h, x, y int, f frame, tag string) string {
	rgb, ok := redGreenBlue(color)
	if !ok || rgb == [3]int{} || f.rgb() {
		return fmt.Sprintf("pad=%d:%d:%d:%d:color=%s", f.width, f.height, x, y, cmp.Or(color, "black"))
	}
	var chain []string
	if left, right := x, f.width-x-w; left+right > 0 {
		chain = append(chain, c.between("hstack", [2][2]int{{left, h}, {right, h}}, rgb, f, tag+"h"))
	}
	if top, bottom := y, f.height-y-h; top+bottom > 0 {
		chain = append(chain, c.between("vstack", [2][2]int{{f.width, top}, {f.width, bottom}}, rgb, f, tag+"v"))
	}
	return strings.Join(chain, ",")
}

// between sets the picture between two bars of these sizes. They are made of its own
// first frame, so that they share its time base, and are held.
func (c *compiler) between(stack string, sizes [2][2]int, rgb [3]int, f frame, tag string) string {
	made, order := "", ""
	links := []string{fmt.Sprintf("[bm%s]", tag)}
	for i, size := range sizes {
		if i == 1 {
			order += links[0]
		}
		if size[0] < 1 || size[1] < 1 {
			continue
		}
		one := f
		one.width, one.height, one.sar, one.kept = size[0], size[1], ffmpeg.Rational{}, true
		facts := &ffmpeg.VideoFacts{Width: size[0], Height: size[1], DisplayWidth: size[0], DisplayHeight: size[1], PixelFormat: "gbrp", BitDepth: 8}
		from, to := fmt.Sprintf("[bs%d%s]", i, tag), fmt.Sprintf("[bb%d%s]", i, tag)
		made += fmt.Sprintf("%strim=end_frame=1,scale=%d:%d,format=gbrp,lutrgb=r=%d:g=%d:b=%d,%s%s;", from, size[0], size[1], rgb[0], rgb[1], rgb[2],
			c.dressed(facts, one, fmt.Sprint(tag, i)), to)
		links, order = append(links, from), order+to
	}
	return fmt.Sprintf("setsar=1%s,split=%d%s;%s%s%s=inputs=%d", c.setColors(f), len(links), strings.Join(links, ""), made, order, stack, len(links))
}

// redGreenBlue takes a colour of the form that [ffmpeg.ParseColor] answers apart.
func redGreenBlue(color string) (rgb [3]int, ok bool) {
	if len(color) != len("0xRRGGBBAA") {
		return rgb, false
	}
	n, err := strconv.ParseUint(color[2:8], 16, 32)
	return [3]int{int(n >> 16), int(n >> 8 & 255), int(n & 255)}, err == nil
}
