package argv

import (
	"strings"
	"sync"
)

// set makes a set of the words of a text.
func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

// formats are the muxers and demuxers that -f may name.
var formats = sync.OnceValue(func() map[string]bool {
	return set(`
	null image2 image2pipe rawvideo yuv4mpegpipe wav w64 s16le s24le s32le f32le f64le u8 mp4 mov ipod m4a m4v 3gp 3g2 matroska webm avi flv
	mpegts mpeg mpegvideo vob mxf mp3 mp2 ac3 eac3 adts aac flac ogg opus oga ogv amr aiff caf au tta wv alac truehd dts gif apng webp webp_pipe
	avif mjpeg png_pipe jpeg_pipe bmp_pipe h264 hevc vvc av1 ivf obu m4v dv h263 md5 hash framemd5 framehash framecrc crc streamhash data
	srt webvtt ass ssa mov_text subrip ffmetadata lavfi asf wmv rm gxf nut swf concat`)
})

// bitFilters are the bitstream filters that -bsf may name; none opens a file.
var bitFilters = sync.OnceValue(func() map[string]bool {
	return set(`
	null h264_mp4toannexb hevc_mp4toannexb vvc_mp4toannexb h264_metadata hevc_metadata h264_redundant_pps setts noise dump_extra
	extract_extradata remove_extra filter_units aac_adtstoasc vp9_superframe vp9_superframe_split vp9_metadata vp9_raw_reorder av1_metadata
	av1_frame_merge av1_frame_split pcm_rechunk opus_metadata mov2textsub text2movsub chomp prores_metadata dca_core eac3_core
	truehd_core mjpeg2jpeg mpeg2_metadata mpeg4_unpack_bframes imxdump`)
})

// filters are the filters that a graph may use. A filter with an order takes that
// many options without a name; one that can name a file has its order written out, so
// that no path hides behind a missing name.
var filters = sync.OnceValue(func() map[string]filterFacts {
	m := map[string]filterFacts{}
	for name := range set(`
		null copy format fps framerate scale scale2ref crop pad select trim setpts settb setsar setdar setparams setrange setfield tile thumbnail
		scdet blackdetect blackframe freezedetect freezeframes idet signalstats showinfo split overlay xstack hstack vstack concat interleave blend
		mergeplanes extractplanes alphaextract alphamerge premultiply unpremultiply colorspace colormatrix zscale tonemap transpose hflip vflip rotate
		fade xfade loop reverse tpad tmix tblend minterpolate mpdecimate decimate telecine fieldmatch yadif bwdif w3fdif estdif kerndeint
		separatefields weave repeatfields field fieldorder cropdetect bbox eq hue colorbalance colorchannelmixer colorlevels colortemperature
		colorcontrast colorcorrect colorhold colorkey chromakey chromahold chromashift chromanr despill hsvkey exposure vibrance lut lutyuv lutrgb lut2
		negate gblur boxblur avgblur smartblur unsharp cas hqdn3d nlmeans atadenoise vaguedenoiser bm3d dctdnoiz owdenoise removegrain median
		deflicker deblock deband gradfun noise vignette geq drawbox drawgrid fillborders shuffleframes shufflepixels shuffleplanes swapuv
		pixelize perspective lenscorrection zoompan palettegen paletteuse elbg edgedetect sobel prewitt convolution maskedmerge
		threshold histogram waveform vectorscope ciescope datascope oscilloscope entropy siti realtime fifo sidedata dejudder stereo3d
		photosensitivity histeq normalize grayworld greyedge limiter pp7 fspp spp xbr hqx super2xsai epx
		nullsink nullsrc color testsrc testsrc2 smptebars smptehdbars rgbtestsrc yuvtestsrc pal75bars pal100bars haldclutsrc allrgb allyuv
		gradients mandelbrot sierpinski
		anull acopy aformat aresample asetrate asettb asetpts asetnsamples aselect atrim apad asplit amix amerge ainterleave join pan channelmap
		channelsplit volume volumedetect astats ebur128 silencedetect silenceremove ashowinfo aphasemeter loudnorm dynaudnorm acompressor
		alimiter agate compand mcompand sidechaincompress sidechaingate speechnorm afade acrossfade adelay aecho aloop areverse atempo rubberband
		highpass lowpass bandpass bandreject allpass equalizer bass treble highshelf lowshelf tiltshelf anequalizer superequalizer afftdn anlmdn
		adeclick adeclip crossfeed extrastereo stereowiden stereotools earwax haas deesser dcshift drmeter replaygain
		aspectralstats asidedata afifo arealtime axcorrelate aderivative aintegral acontrast acrusher aexciter apsyclip asoftclip dialoguenhance
		anullsrc anullsink sine anoisesrc aevalsrc
		showwaves showwavespic showspectrum showspectrumpic showvolume showfreqs avectorscope abitscope
		identity msad corr vif xcorrelate framestep haldclut selectivecolor monochrome pseudocolor random rgbashift pullup bilateral aeval aemphasis tremolo
		vibrato flanger chorus aphaser crystalizer v360 lumakey dilation erosion inflate deflate delogo tinterlace doubleweave vfrdet blurdetect blockdetect
		surround acrossover afwtdn il phase mix dedot shear scroll tmedian xmedian untile adecorrelate segment asegment addroi huesaturation colorize`) {
		m[name] = filterFacts{}
	}
	for name, order := range map[string]string{
		"metadata":         "mode key value function expr file direct",
		"ametadata":        "mode key value function expr file direct",
		"psnr":             "stats_file f",
		"ssim":             "stats_file f",
		"drawtext":         "fontfile text textfile",
		"subtitles":        "filename",
		"ass":              "filename",
		"lut3d":            "file interp",
		"lut1d":            "file interp",
		"vidstabdetect":    "result",
		"vidstabtransform": "input",
		"vmafmotion":       "stats_file",
		"curves":           "preset",
		"showcqt":          "size",
		"deshake":          "x y w h",
		"paletteuse":       "dither bayer_scale diff_mode new",
		"removelogo":       "filename",
	} {
		m[name] = filterFacts{order: strings.Fields(order)}
	}
	return m
})
