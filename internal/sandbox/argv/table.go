package argv

import (
	"maps"
	"slices"
)

// Kind says what the value of an option may look like.
type Kind string

// The kinds. None of them admits a path of a user: files are named by granted
// descriptor, by generated name or by pinned data only.
const (
	Flag      Kind = ""          // no value
	Number    Kind = "number"    // 12, -0.5, 30000/1001, 800k
	Name      Kind = "word"      // letters, digits and . _ + : , # - and no slash
	Size      Kind = "size"      // 1280x720, or a word
	Text      Kind = "text"      // any printable text that the program opens nothing by
	Ratio     Kind = "ratio"     // 30000/1001, 16:9, a decimal number or a word
	Expr      Kind = "expr"      // an arithmetic expression
	StreamMap Kind = "map"       // -map: 0:v:0, -0:d, [label]
	Protocols Kind = "protocols" // exactly file, pipe or file,pipe
	Format    Kind = "format"    // a muxer or demuxer of the allow-list
	FilterArg Kind = "graph"     // a filter graph of known filters
	BitFilter Kind = "bsf"       // a chain of known bitstream filters
	Params    Kind = "params"    // key=value:key=value of known keys
	FromInput Kind = "in"        // a granted input, or a file of the private folder
	ToOutput  Kind = "out"       // a generated name in the private folder
	ToPipe    Kind = "pipe"      // pipe:N of a granted pipe, or -
	FromData  Kind = "data"      // a pinned data file of the program
	Setting   Kind = "setting"   // key=value of known keys (Values); value is a Name
)

// Option is one option that a program may be given.
type Option struct {
	Kind   Kind
	Values []string // the only values allowed; for Params and Setting the only keys
}

// Table says what a program may be given. It is a fact about the program, written
// down once, or built from the operator's configuration for a program of their own.
type Table struct {
	Program string
	// Input stands before the path of a descriptor ("file:").
	Input string
	// Options by name as it is written, dashes included and a stream specifier left
	// out ("-c", "--psm").
	Options map[string]Option
	// Operands are what may stand without an option, in order; the last repeats.
	Operands []Option
	// Env are the variables that a command may set.
	Env map[string]Option
	// Inspect are whole argument lists that make the program describe itself; setup
	// reads its abilities with them.
	Inspect [][]string
	// Reads are folders and files outside the pin that the program may read: fonts,
	// facts about the processor.
	Reads []string
	// Self marks our own binary, started as this program.
	Self bool

	grammar func(*checker) error
}

// Plain returns the table of a program of the operator's own: options take one
// value each (or none for a Flag), operands are of the given kinds.
func Plain(program string, options map[string]Option, operands []Option) Table {
	return Table{Program: program, Options: options, Operands: operands, grammar: (*checker).plain}
}

// Programs returns the tables of the programs that the product knows.
func Programs() map[string]Table {
	list := []Table{ffmpegTable(), ffprobeTable(), tesseractTable(), selfTable("speech"), selfTable("ocr"), selfTable("object")}
	tables := make(map[string]Table, len(list))
	for _, t := range list {
		tables[t.Program] = t
	}
	return tables
}

// processorFacts are what numeric libraries read to choose their code.
func processorFacts() []string {
	return []string{"/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu", "/sys/devices/system/node", "/dev/urandom"}
}

// selfTable is that of our own binary as one of its children: its arguments are
// our own words, so only files are looked at closely.
func selfTable(program string) Table {
	return Table{
		Program: program, Self: true, grammar: (*checker).own,
		Env:   map[string]Option{"GOMAXPROCS": {Kind: Number}, "GOMEMLIMIT": {Kind: Name}, "OMP_NUM_THREADS": {Kind: Number}},
		Reads: processorFacts(),
	}
}

func tesseractTable() Table {
	settings := []string{
		"tessedit_char_whitelist", "tessedit_char_blacklist", "preserve_interword_spaces", "user_defined_dpi", "tessedit_create_tsv",
		"tessedit_create_hocr", "tessedit_create_txt", "tessedit_do_invert", "hocr_font_info", "load_system_dawg", "load_freq_dawg",
		"textord_heavy_nr", "thresholding_method", "tessedit_pageseg_mode", "invert_threshold",
	}
	return Table{
		Program: "tesseract",
		Options: map[string]Option{
			"-l": {Kind: Name}, "--psm": {Kind: Number}, "--oem": {Kind: Number}, "--dpi": {Kind: Number},
			"--tessdata-dir": {Kind: FromData}, "-c": {Kind: Setting, Values: settings}, "--loglevel": {Kind: Name},
		},
		Operands: []Option{
			{Kind: FromInput},
			{Kind: ToOutput, Values: []string{"stdout", "-"}},
			{Kind: Name, Values: []string{"tsv", "hocr", "txt", "quiet"}},
		},
		Env:     map[string]Option{"OMP_THREAD_LIMIT": {Kind: Number}, "OMP_NUM_THREADS": {Kind: Number}},
		Inspect: [][]string{{"--version"}, {"--list-langs"}},
		Reads:   processorFacts(),
		grammar: (*checker).plain,
	}
}

// options builds a table's options from names of one kind each.
type optionSet map[string]Option

func (s optionSet) add(kind Kind, names ...string) {
	for _, n := range names {
		s[n] = Option{Kind: kind}
	}
}

func ffmpegTable() Table {
	o := optionSet{}
	o.add(Flag, "-nostdin", "-y", "-n", "-hide_banner", "-copyts", "-start_at_zero", "-shortest", "-vn", "-an", "-sn", "-dn",
		"-autorotate", "-noautorotate", "-accurate_seek", "-noaccurate_seek", "-copyinkf", "-nostats", "-bitexact", "-xerror",
		"-ignore_unknown", "-autoscale", "-noautoscale", "-fix_sub_duration", "-find_stream_info", "-seek_timestamp")
	o.add(Number, "-threads", "-thread_queue_size", "-flush_packets", "-filter_threads", "-filter_complex_threads", "-frames", "-vframes", "-aframes", "-t", "-to", "-ss", "-sseof",
		"-itsoffset", "-itsscale", "-q", "-qscale", "-crf", "-qp", "-b", "-maxrate", "-minrate", "-bufsize", "-ac", "-ar", "-g",
		"-keyint_min", "-bf", "-refs", "-video_track_timescale", "-analyzeduration", "-probesize", "-stream_loop", "-loop", "-update",
		"-start_number", "-max_muxing_queue_size", "-max_interleave_delta", "-muxdelay", "-muxpreload", "-max_error_rate", "-compression_level",
		"-quality", "-lossless", "-cpu-used", "-row-mt", "-tile-columns", "-tile-rows", "-lag-in-frames", "-auto-alt-ref", "-aq-mode",
		"-sc_threshold", "-qmin", "-qmax", "-qdiff", "-bits_per_raw_sample", "-cutoff", "-frame_duration", "-level", "-map_chapters", "-max_alloc", "-stats_period",
		"-display_rotation", "-ignore_editlist", "-write_xing", "-id3v2_version", "-frag_duration", "-min_frag_duration", "-fpsprobesize",
		"-max_probe_packets", "-scan_all_pmts", "-correct_ts_overflow", "-seek2any", "-sample_rate", "-channels", "-apply_cropping",
		"-movie_timescale", "-mpegts_copyts", "-metadata_header_padding", "-final_delay", "-plays",
		"-advanced_editlist")
	o.add(Name, "-c", "-codec", "-vcodec", "-acodec", "-scodec", "-preset", "-tune", "-profile", "-pix_fmt", "-pixel_format", "-color_primaries",
		"-color_trc", "-colorspace", "-color_range", "-chroma_sample_location", "-field_order", "-vsync", "-fps_mode",
		"-disposition", "-map_metadata", "-tag", "-movflags", "-sws_flags", "-v", "-loglevel", "-fflags", "-flags", "-flags2", "-err_detect",
		"-skip_loop_filter", "-skip_frame", "-skip_idct", "-strict", "-avoid_negative_ts", "-sub_charenc", "-sample_fmt", "-ch_layout",
		"-channel_layout", "-discard", "-pattern_type", "-hash", "-vbr", "-application", "-deadline", "-brand", "-use_editlist",
		"-format_whitelist", "-codec_whitelist", "-thread_type", "-coder", "-pred", "-row_mt", "-usage", "-vendor", "-dither_method", "-rf64")
	o.add(Size, "-s", "-video_size", "-canvas_size")
	o.add(Text, "-metadata", "-timecode")
	o.add(Ratio, "-enc_time_base", "-aspect", "-r", "-framerate", "-time_base")
	o.add(Expr, "-force_key_frames")
	o.add(StreamMap, "-map")
	o.add(Protocols, "-protocol_whitelist")
	o.add(Format, "-f")
	o.add(FilterArg, "-filter_complex", "-lavfi", "-filter", "-vf", "-af")
	o.add(BitFilter, "-bsf")
	o.add(FromInput, "-i")
	o.add(ToPipe, "-progress")
	o["-x264-params"] = Option{Params, x264Keys}
	o["-x265-params"] = Option{Params, x265Keys}
	return Table{
		Program: "ffmpeg", Input: "file:", Options: o, grammar: (*checker).ffmpeg,
		Inspect: inspections("-hwaccels"),
		Reads:   append(processorFacts(), fontFolders...),
	}
}

func ffprobeTable() Table {
	o := optionSet{}
	o.add(Flag, "-hide_banner", "-show_format", "-show_streams", "-show_packets", "-show_frames", "-show_chapters", "-show_programs",
		"-show_error", "-count_frames", "-count_packets", "-show_data", "-show_private_data", "-noprivate", "-unit", "-bitexact", "-find_stream_info")
	o.add(Number, "-analyzeduration", "-probesize", "-threads", "-ignore_editlist", "-fpsprobesize", "-max_probe_packets", "-scan_all_pmts",
		"-correct_ts_overflow", "-max_alloc", "-advanced_editlist")
	o.add(Name, "-v", "-loglevel", "-show_data_hash", "-select_streams", "-fflags", "-flags", "-err_detect",
		"-skip_loop_filter", "-skip_frame", "-format_whitelist", "-codec_whitelist", "-strict", "-show_log")
	o.add(Expr, "-show_entries", "-read_intervals", "-of", "-print_format")
	o.add(Protocols, "-protocol_whitelist")
	o.add(Format, "-f")
	o.add(FromInput, "-i")
	return Table{
		Program: "ffprobe", Input: "file:", Options: o, grammar: (*checker).ffprobe,
		Inspect: inspections(), Reads: processorFacts(),
	}
}

// inspections are the ways in which ffmpeg and ffprobe describe themselves.
func inspections(more ...string) [][]string {
	var lists [][]string
	words := append([]string{"-version", "-filters", "-encoders", "-decoders", "-bsfs", "-formats", "-muxers", "-demuxers", "-protocols", "-pix_fmts"}, more...)
	for _, w := range words {
		lists = append(lists, []string{w}, []string{"-hide_banner", w}, []string{"-v", "error", w})
	}
	return append(lists, []string{"-hide_banner", "-h", "full"}, []string{"-hide_banner", "-h", "long"}, []string{"-v", "error", "-h", "full"})
}

// fontFolders are what fontconfig reads when captions are drawn.
var fontFolders = []string{"/etc/fonts", "/usr/share/fontconfig", "/usr/share/fonts", "/usr/local/share/fonts", "/var/cache/fontconfig", "/usr/share/xml/fontconfig"}

// x264Keys and x265Keys are the parameters of the encoders that open no file; stats,
// qpfile, cqmfile, dump-yuv, log-file, csv, analysis-save and the like do.
var x264Keys = []string{
	"sps-id", "keyint", "min-keyint", "scenecut", "no-scenecut", "bframes", "b-pyramid", "b-adapt", "b-bias", "ref", "crf", "crf-max", "qp", "qpmin", "qpmax",
	"qpstep", "bitrate", "ratetol", "ipratio", "pbratio", "open-gop", "threads", "lookahead-threads", "rc-lookahead", "sync-lookahead", "mbtree", "no-mbtree",
	"vbv-maxrate", "vbv-bufsize", "vbv-init", "nal-hrd", "filler", "pic-struct", "force-cfr", "colorprim", "transfer", "colormatrix", "range", "fullrange",
	"chromaloc", "aud", "annexb", "repeat-headers", "level", "profile", "cabac", "no-cabac", "deblock", "no-deblock", "me", "merange", "subme", "trellis",
	"aq-mode", "aq-strength", "psy", "no-psy", "psy-rd", "weightp", "weightb", "no-weightb", "sliced-threads", "slices", "stitchable", "partitions", "8x8dct",
	"no-8x8dct", "direct", "mixed-refs", "fast-pskip", "no-fast-pskip", "dct-decimate", "no-dct-decimate", "deterministic", "intra-refresh", "interlaced",
	"tff", "bff", "constrained-intra", "mastering-display", "cll", "alternative-transfer",
}

var x265Keys = []string{
	"log-level", "keyint", "min-keyint", "scenecut", "no-scenecut", "bframes", "b-adapt", "b-pyramid", "no-b-pyramid", "ref", "crf", "qp", "bitrate", "open-gop",
	"no-open-gop", "pools", "frame-threads", "wpp", "no-wpp", "pmode", "pme", "rc-lookahead", "lookahead-slices", "vbv-maxrate", "vbv-bufsize", "vbv-init",
	"hrd", "aud", "repeat-headers", "annexb", "info", "no-info", "colorprim", "transfer", "colormatrix", "range", "chromaloc", "master-display", "max-cll",
	"hdr10", "hdr10-opt", "level-idc", "high-tier", "profile", "preset", "tune", "sao", "no-sao", "deblock", "aq-mode", "aq-strength", "psy-rd", "psy-rdoq",
	"rd", "me", "subme", "merange", "slices", "lossless", "cu-lossless", "strong-intra-smoothing", "weightp", "weightb", "sps-id", "idr-recovery-sei",
	"eos", "eob", "temporal-layers", "input-depth", "output-depth", "limit-refs", "rect", "amp", "early-skip", "atc-sei", "pic-struct",
}

// Formats lists the muxers and demuxers that may be named with -f, sorted. Those that
// open other files (hls, dash, tee, segment, sdp) are not among them, but for concat, whose
// list is checked.
func Formats() []string { return slices.Sorted(maps.Keys(formats())) }

// Own returns the table of our own binary as a child of another name than those of
// [Programs]; env are the variables it may be given.
func Own(program string, env map[string]Option) Table {
	t := selfTable(program)
	t.Env = env
	return t
}
