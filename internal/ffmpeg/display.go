package ffmpeg

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Background is the colour that transparent pictures are flattened on.
const Background = "white"

// display builds the filters that turn a decoded frame into what a viewer sees, as
// a JPEG carries it: square pixels, upright, no wider than asked, SDR BT.709 colours
// in the matrix and range of JFIF, transparency flattened on [Background].
type display struct {
	v        *VideoFacts
	toneMap  bool // zscale and tonemap are there
	chroma   string
	fallback bool // HDR without the filters for it
}

func (v *VideoFacts) display(a *Abilities, full bool) display {
	d := display{v: v, chroma: "yuvj420p"}
	if full {
		d.chroma = "yuvj444p" // small coloured text is what the full frame is for
	}
	if v.HDR != "" {
		d.toneMap = a.Filter("zscale") && a.Filter("tonemap")
		d.fallback = !d.toneMap
	}
	return d
}

// Fit returns the size of the picture as shown at a width of at most width (0: as
// it is). It never enlarges and keeps the aspect ratio.
func (v *VideoFacts) Fit(width int) (w, h int) {
	w, h = v.DisplayWidth, v.DisplayHeight
	if width > 0 && width < w {
		h = max(1, int(muldiv(int64(h), int64(width), int64(w), nearest)))
		w = width
	}
	return w, h
}

// filters returns the chain for a picture shown at w×h; label makes the inner link
// names unique in the graph.
func (d display) filters(w, h int, label string) string {
	if d.v.Rotation%180 != 0 {
		w, h = h, w // the turn comes last, on the smaller picture
	}
	var chain []string
	size := fmt.Sprintf("%d:%d", w, h)
	if d.toneMap {
		in := ""
		if d.v.Primaries == "" {
			in += ":pin=2020"
		}
		if d.v.Matrix == "" {
			in += ":min=2020_ncl"
		}
		chain = append(chain, fmt.Sprintf("zscale=w=%d:h=%d%s:t=linear:npl=100", w, h, in),
			"format=gbrpf32le", "zscale=p=709", "tonemap=tonemap=hable:desat=0", "zscale=t=709", "format=gbrp")
		size = "iw:ih"
	}
	out := ":out_color_matrix=bt601:out_range=full"
	in := d.input()
	if d.v.Alpha {
		// Flattened in RGB: over must not see limited-range luma. (drawbox would do for
		// the background, but crashes on RGBA in ffmpeg 5.1.)
		chain = append(chain, "scale="+size+in+":flags=bicubic", "format=rgba",
			fmt.Sprintf("split[a%s][b%s];[a%s]lutrgb=r=255:g=255:b=255:a=255[c%s];[c%s][b%s]overlay=format=rgb", label, label, label, label, label, label))
		size, in = "iw:ih", ""
	}
	chain = append(chain, "scale="+size+in+out+":flags=bicubic", "format="+d.chroma)
	return strings.Join(append(append(chain, d.v.turns()...), "setsar=1"), ",")
}

// input says how the samples are to be read. Untagged YUV is read as players do: by
// size.
func (d display) input() string {
	v := d.v
	if d.toneMap || v.rgb() {
		return ""
	}
	m := "bt601"
	switch v.Matrix {
	case "bt709":
		m = "bt709"
	case "bt2020nc", "bt2020c":
		m = "bt2020"
	case "smpte240m":
		m = "smpte240m"
	case "fcc":
		m = "fcc"
	case "":
		if v.Width >= 1280 || v.Height > 576 {
			m = "bt709"
		}
	}
	r := "limited"
	if v.Range == "pc" || strings.HasPrefix(v.PixelFormat, "yuvj") || v.Range == "" && strings.HasPrefix(v.PixelFormat, "gray") {
		r = "full"
	}
	return ":in_color_matrix=" + m + ":in_range=" + r
}

// rgb reports whether the picture has no matrix to speak of.
func (v *VideoFacts) rgb() bool {
	for _, p := range []string{"rgb", "bgr", "gbr", "argb", "abgr", "pal8", "0rgb", "0bgr", "x2", "mono"} {
		if strings.HasPrefix(v.PixelFormat, p) {
			return true
		}
	}
	return v.Matrix == "gbr" || v.Matrix == "rgb"
}

// turns returns the filters that make the picture upright: the mirroring first.
func (v *VideoFacts) turns() []string {
	var f []string
	if v.Mirrored {
		f = append(f, "hflip")
	}
	switch v.Rotation {
	case 90:
		f = append(f, "transpose=clock")
	case 180:
		f = append(f, "hflip", "vflip")
	case 270:
		f = append(f, "transpose=cclock")
	}
	return f
}

// decoder returns the options that choose a decoder. ffmpeg's own VP8 and VP9
// decoders drop the alpha that WebM keeps beside the picture.
func (s *Stream) decoder(a *Abilities) ([]argv.Atom, error) {
	if s.Video == nil || !s.Video.Alpha {
		return nil, nil
	}
	name := map[string]string{"vp9": "libvpx-vp9", "vp8": "libvpx"}[s.CodecName]
	switch {
	case name == "":
		return nil, nil
	case !a.Decoder(name):
		return nil, cutroom.Errorf(cutroom.MissingDependency, "the video is transparent, and this ffmpeg has no %s decoder to read that", name).
			WithHint("install a build of ffmpeg with libvpx")
	}
	return argv.Words("-c:v", name), nil
}
