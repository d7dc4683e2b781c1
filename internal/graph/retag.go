package graph

import (
	"fmt"
	"strings"

	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// Retag is what a picture is to say of its colours, in the words of a description: the
// samples stay as they are. Empty fields stay as they were.
type Retag struct{ Range, Matrix, Primaries, Transfer string }

// h273 are the numbers of ITU-T H.273 for the words that can be stated.
var h273 = map[string]map[string]int{
	"primaries": {"bt709": 1, "bt470bg": 5, "smpte170m": 6, "bt2020": 9},
	"transfer":  {"bt709": 1, "smpte170m": 6, "bt2020-10": 14, "smpte2084": 16, "arib-std-b67": 18},
	"matrix":    {"bt709": 1, "bt470bg": 5, "smpte170m": 6, "bt2020nc": 9},
}

// retaggers are the bitstream filters that change what the packets of a codec say of
// colours, with their words for it.
var retaggers = map[string]struct{ filter, primaries, transfer, matrix, full string }{
	"h264":       {"h264_metadata", "colour_primaries", "transfer_characteristics", "matrix_coefficients", "video_full_range_flag"},
	"hevc":       {"hevc_metadata", "colour_primaries", "transfer_characteristics", "matrix_coefficients", "video_full_range_flag"},
	"mpeg2video": {"mpeg2_metadata", "colour_primaries", "transfer_characteristics", "matrix_coefficients", ""},
	"av1":        {"av1_metadata", "color_primaries", "transfer_characteristics", "matrix_coefficients", "color_range"},
	"prores":     {"prores_metadata", "color_primaries", "color_trc", "colorspace", ""},
}

// CanRetag reports whether the packets of a codec can be told other colours without
// being encoded anew.
func CanRetag(a *ffmpeg.Abilities, codec string, t Retag) bool {
	r, ok := retaggers[codec]
	return ok && a.BSF(r.filter) && (t.Range == "" || r.full != "")
}

// bits are the bitstream filters of a copied picture.
func (c *compiler) bits(v *ffmpeg.Stream) ([]string, error) {
	p := c.g.Picture
	var list []string
	if p.StripDolby {
		if v.CodecName != "hevc" || !c.a.BSF("filter_units") {
			return nil, cutroom.Errorf(cutroom.Invalid, "the picture is %s: a layer of Dolby Vision can be taken out of HEVC only", v.CodecName).WithHint("use to_sdr, which encodes the picture anew")
		}
		list = append(list, "filter_units=remove_types=62-63")
	}
	if t := p.Retag; t != nil {
		r, ok := retaggers[v.CodecName]
		if !ok || !c.a.BSF(r.filter) {
			return nil, fmt.Errorf("the packets of %s cannot be told other colours", v.CodecName)
		}
		list = append(list, r.filter+"="+t.options(v.CodecName))
	}
	return list, nil
}

// options are the options of the bitstream filter of a codec.
func (t Retag) options(codec string) string {
	r := retaggers[codec]
	var s []string
	for _, o := range []struct{ key, kind, word string }{{r.primaries, "primaries", t.Primaries}, {r.transfer, "transfer", t.Transfer}, {r.matrix, "matrix", t.Matrix}} {
		if o.word != "" {
			s = append(s, fmt.Sprintf("%s=%d", o.key, h273[o.kind][o.word]))
		}
	}
	if t.Range != "" {
		full := 0
		if t.Range == "pc" {
			full = 1
		}
		s = append(s, fmt.Sprintf("%s=%d", r.full, full))
	}
	return strings.Join(s, ":")
}

// stated are the options by which the container states the colours, too.
func (t Retag) stated() []argv.Atom {
	var args []argv.Atom
	for _, o := range []struct{ key, word string }{{"-color_primaries", t.Primaries}, {"-color_trc", t.Transfer}, {"-colorspace", t.Matrix}, {"-color_range", t.Range}} {
		if o.word != "" {
			args = append(args, argv.Words(o.key, o.word)...)
		}
	}
	return args
}
