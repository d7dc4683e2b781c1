package argv

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var testGrants = Grants{Pipes: 1, Inputs: 2, Data: map[string]string{
	"tessdata": "/usr/share/tesseract-ocr/5/tessdata", "model": "/opt/models/a b.onnx", "font": "/usr/share/fonts/DejaVu.ttf",
}}

// good are commands that recipes use; the inputs lie at descriptors 4 and 5, the
// pipe at 3.
var good = []struct{ program, args string }{
	{"ffmpeg", "-v error -nostdin -y -copyts -threads 1 -protocol_whitelist file -ss 5.26 -i file:/proc/self/fd/4 -threads 1 -protocol_whitelist file -ss 7 -i file:/proc/self/fd/5 -filter_complex [0:v:0]trim=end_frame=1,metadata=add:key=f:value=0,metadata=print:file=-,scale=640:-2[o0];[1:v:0]select=gte(t\\,7-0.0005),trim=end_frame=1[o1] -map [o0] -frames:v 1 -update 1 -q:v 3 -f image2 0.jpg -map [o1] -frames:v 1 -f image2 1.jpg"},
	{"ffmpeg", "-v error -nostdin -skip_loop_filter all -protocol_whitelist file -i file:/proc/self/fd/4 -filter_complex [0:v:0]scale=320:-2:flags=fast_bilinear,scdet=t=0,blackdetect=d=0.1:pix_th=0.1,freezedetect=n=-60dB:d=0.5,metadata=print:file=v.txt[v];[0:a:0]silencedetect=n=-50dB:d=0.3,ebur128=peak=true+sample:metadata=1,ametadata=print:file='pipe\\:3'[a] -map [v] -f null - -map [a] -f null -"},
	{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/4 -map 0:a:0 -ac 1 -ar 16000 -f s16le pipe:1 -progress pipe:3 -f null -"},
	{"ffmpeg", "-nostdin -noautorotate -protocol_whitelist file -ss 1.5 -i file:/proc/self/fd/4 -map 0:v:0 -frames:v 10 -vf setpts=PTS-STARTPTS -fps_mode passthrough -enc_time_base 1/15360 -video_track_timescale 15360 -c:v libx264 -profile:v high -pix_fmt yuv420p -bf 1 -crf 12 -x264-params sps-id=1:keyint=infinite:scenecut=0:b-pyramid=normal h.mp4"},
	{"ffmpeg", "-nostdin -protocol_whitelist file -i h.mp4 -c copy -bsf:v noise=drop='lt(pts,startpts)',setts=pts=PTS-STARTPTS:dts=DTS-STARTPTS -movflags +faststart -metadata:s:a:0 language=eng -metadata title=Q\u00e4/..x out.mp4"},
	{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/4 -vf drawtext=fontfile=/usr/share/fonts/DejaVu.ttf:textfile=t.txt:expansion=none:x=(w-tw)/2 f%05d.png"},
	{"ffmpeg", "-nostdin -f lavfi -i testsrc2=s=320x180:d=2 -f lavfi -i sine=frequency=440 -t 1 -c:a aac out.mp4"},
	{"ffmpeg", "-hide_banner -filters"},
	{"ffprobe", "-v error -protocol_whitelist file -show_format -show_streams -of json -show_entries packet=pts,dts,flags:stream=index -read_intervals 10%+#3 file:/proc/self/fd/4"},
	{"ffprobe", "-version"},
	{"tesseract", "/proc/self/fd/4 stdout -l eng+chi_sim --psm 11 --tessdata-dir /usr/share/tesseract-ocr/5/tessdata -c tessedit_create_tsv=1"},
	{"tesseract", "0.png out --psm 6 tsv"},
	{"speech", "--model=/opt/models/a_b.onnx --threads 2 /proc/self/fd/5 --vad=0.5 /opt/models/a_b.onnx"},
}

func split(s string) []string { return strings.Fields(s) }

func grantsFor(g Grants) Grants {
	g.Data = map[string]string{"tessdata": g.Data["tessdata"], "font": g.Data["font"], "model": "/opt/models/a_b.onnx"}
	return g
}

func TestGoodCommandsPass(t *testing.T) {
	t.Parallel()
	for _, g := range good {
		if err := Check(Programs()[g.program], split(g.args), grantsFor(testGrants)); err != nil {
			t.Errorf("%s %s:\n%v", g.program, g.args, err)
		}
	}
}

func TestBadCommandsAreRefused(t *testing.T) {
	t.Parallel()
	const in = "-nostdin -protocol_whitelist file -i file:/proc/self/fd/4 "
	bad := []struct{ program, args string }{
		{"ffmpeg", "-protocol_whitelist file -i file:/proc/self/fd/4 o.mp4"},                              // no -nostdin
		{"ffmpeg", "-nostdin -i file:/proc/self/fd/4 o.mp4"},                                              // no whitelist
		{"ffmpeg", in + "-i file:/proc/self/fd/5 o.mp4"},                                                  // none for the second input
		{"ffmpeg", "-nostdin -protocol_whitelist file o.mp4 -i file:/proc/self/fd/4 p.mp4"},               // none in the input's group
		{"ffmpeg", "-nostdin -protocol_whitelist file,pipe -i file:/proc/self/fd/4 o.mp4"},                // too wide
		{"ffmpeg", "-nostdin -protocol_whitelist file,http -i file:/proc/self/fd/4 o.mp4"},                //
		{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/3 o.mp4"},                     // the pipe, not an input
		{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/6 o.mp4"},                     // not granted
		{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/04 o.mp4"},                    // not its spelling
		{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/proc/self/fd/4/../../../etc/passwd o.mp4"}, //
		{"ffmpeg", "-nostdin -protocol_whitelist file -i /etc/passwd o.mp4"},                              //
		{"ffmpeg", "-nostdin -protocol_whitelist file -i file:/etc/passwd o.mp4"},                         //
		{"ffmpeg", "-nostdin -protocol_whitelist file -i concat:a|b o.mp4"},                               //
		{"ffmpeg", "-nostdin -protocol_whitelist file -f concat -i l.txt o.mp4"},                          //
		{"ffmpeg", "-nostdin -protocol_whitelist file -f hls -i l.m3u8 o.mp4"},                            //
		{"ffmpeg", in + "-f tee a.mp4"},
		{"ffmpeg", in + "-f segment a%d.mp4"},
		{"ffmpeg", in + "-f hls a.m3u8"}, //
		{"ffmpeg", in + "/tmp/o.mp4"},
		{"ffmpeg", in + "../o.mp4"},
		{"ffmpeg", in + "file:o.mp4"},
		{"ffmpeg", in + "a/b.mp4"}, //
		{"ffmpeg", in + "http://x/o.mp4"},
		{"ffmpeg", in + "pipe:4"},
		{"ffmpeg", in + "pipe:2"},
		{"ffmpeg", in + "a%s.png"}, //
		{"ffmpeg", in + "a%d%d.png"},
		{"ffmpeg", in + "-report o.mp4"},
		{"ffmpeg", in + "-attach x.ttf o.mkv"}, //
		{"ffmpeg", in + "-vstats_file v.log o.mp4"},
		{"ffmpeg", in + "-filter_complex_script s.txt o.mp4"}, //
		{"ffmpeg", in + "-filter_script:v s.txt o.mp4"},
		{"ffmpeg", in + "-/filter:v s.txt o.mp4"}, //
		{"ffmpeg", in + "-progress http://x o.mp4"},
		{"ffmpeg", in + "-progress p.txt o.mp4"}, //
		{"ffmpeg", in + "-dump_attachment:t x o.mp4"},
		{"ffmpeg", in + "-passlogfile p o.mp4"},
		{"ffmpeg", in + "-sdp_file s o.mp4"},
		{"ffmpeg", in + "-init_hw_device vulkan o.mp4"},
		{"ffmpeg", in + "-enable_drefs 1 o.mp4"},
		{"ffmpeg", in + "-x264-params stats=x.log o.mp4"},
		{"ffmpeg", in + "-x264-params keyint=1:qpfile=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-x265-params csv=x.csv o.mp4"},
		{"ffmpeg", in + "-bsf:v movie=/x o.mp4"},
		{"ffmpeg", in + "-vf"},
		{"ffmpeg", in + "-t 1;2 o.mp4"},
		{"ffmpeg", in + "-c:v /etc/passwd o.mp4"},
		{"ffmpeg", in + "-map ../x o.mp4"},
		{"ffmpeg", in + "-vf movie=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-vf null,amovie=x o.mp4"},
		{"ffmpeg", in + "-vf mo\\vie=x o.mp4"},
		{"ffmpeg", in + "-vf 'movie'=x o.mp4"},
		{"ffmpeg", in + "-filter_complex [0:v]null[a];movie=x[b] o.mp4"},
		{"ffmpeg", in + "-vf subtitles=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-vf subtitles=filename=../a.srt o.mp4"},
		{"ffmpeg", in + "-vf ass=f=/x o.mp4"},
		{"ffmpeg", in + "-vf lut3d=/x.cube o.mp4"},
		{"ffmpeg", in + "-vf lut3d=fi\\le=/x o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:file=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:k:v:less:e:/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:file='/tmp/x' o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:file='pipe\\:9' o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:file='http\\://x' o.mp4"},
		{"ffmpeg", in + "-vf metadata=print:file=concat\\\\:a o.mp4"},
		{"ffmpeg", in + "-vf psnr=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf ssim=f=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf sendcmd=f=x o.mp4"},
		{"ffmpeg", in + "-vf drawtext=textfile=/etc/passwd:expansion=none o.mp4"},
		{"ffmpeg", in + "-vf drawtext=textfile=a.txt o.mp4"},
		{"ffmpeg", in + "-vf drawtext=/etc/fonts/x.ttf o.mp4"},
		{"ffmpeg", in + "-vf drawtext=/text=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-vf scale=/w=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-vf life=/etc/passwd o.mp4"},
		{"ffmpeg", in + "-vf deshake=filename=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf deshake=1:2:3:4:5:6:7:8:9:/x o.mp4"},
		{"ffmpeg", in + "-vf paletteuse=debug_kdtree=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf curves=plot=/tmp/x o.mp4"},
		{"ffmpeg", in + "-vf frei0r=x o.mp4"},
		{"ffmpeg", "-nostdin -f lavfi -i movie=/etc/passwd o.mp4"},
		{"ffmpeg", "-filters -report"},
		{"ffprobe", "-show_streams file:/proc/self/fd/4"},
		{"ffprobe", "-protocol_whitelist file -o /tmp/x file:/proc/self/fd/4"},
		{"ffprobe", "-protocol_whitelist file file:/proc/self/fd/4 file:/proc/self/fd/5"},
		{"ffprobe", "-protocol_whitelist file"},
		{"ffprobe", "-protocol_whitelist file -protocol_whitelist file,pipe file:/proc/self/fd/4"},
		{"ffprobe", "-protocol_whitelist file -f lavfi color"},
		{"tesseract", "/etc/passwd stdout"},
		{"tesseract", "/proc/self/fd/4 /tmp/o"},
		{"tesseract", "/proc/self/fd/4 o /etc/passwd"},
		{"tesseract", "/proc/self/fd/4 o --user-words /etc/passwd"},
		{"tesseract", "/proc/self/fd/4 o -c debug_file=/tmp/x"},
		{"tesseract", "/proc/self/fd/4 o --tessdata-dir /tmp"},
		{"tesseract", "/proc/self/fd/4 o -c user_words_file=x"},
		{"speech", "--model=/etc/passwd"},
		{"speech", "/etc/passwd"},
		{"speech", "--x=../y"},
		{"speech", "/proc/self/fd/9"},
		{"speech", "--Up"},
	}
	for _, b := range bad {
		if err := Check(Programs()[b.program], split(b.args), grantsFor(testGrants)); err == nil {
			t.Errorf("passed: %s %s", b.program, b.args)
		}
	}
	if err := Check(Table{Program: "sh"}, nil, Grants{}); err == nil {
		t.Error("a program without a table passed")
	}
}

// TestMutatedCommandsAreRefused puts something foreign in the place of one argument
// of a good command, wherever a file, a graph or an option stands.
func TestMutatedCommandsAreRefused(t *testing.T) {
	t.Parallel()
	foreign := []string{"/etc/passwd", "file:/etc/passwd", "http://h/x", "-report", "../x", "file:/proc/self/fd/99", "movie=/etc/passwd", "\x1b[0m", "tcp://1:2", "|sh"}
	rapid.Check(t, func(rt *rapid.T) {
		g := good[rapid.IntRange(0, len(good)-1).Draw(rt, "command")]
		args := split(g.args)
		i := rapid.IntRange(0, len(args)-1).Draw(rt, "place")
		was := args[i]
		args[i] = rapid.SampledFrom(foreign).Draw(rt, "foreign")
		// Options of our own children are our own words.
		if g.program == "speech" && args[i] == "-report" || was == "-nostdin" || strings.HasPrefix(args[max(i-1, 0)], "-metadata") {
			return
		}
		if err := Check(Programs()[g.program], args, grantsFor(testGrants)); err == nil {
			rt.Fatalf("%q in place of %q passed", args[i], was)
		}
	})
}

func TestRenderMatchesCheck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		inputs, pipes := rapid.IntRange(1, 60).Draw(rt, "inputs"), rapid.IntRange(0, 3).Draw(rt, "pipes")
		cmd := Command{Program: "ffmpeg", Args: Words("-v", "error", "-nostdin"), Consume: make([]Consumer, pipes+1)}
		for n := range inputs {
			cmd.Inputs = append(cmd.Inputs, n)
			cmd.Args = append(cmd.Args, Word("-protocol_whitelist"), Word("file"), Word("-ss"),
				Decimal(strconv.FormatFloat(rapid.Float64Range(0, 9000).Draw(rt, "t"), 'f', 6, 64)), Word("-i"), In(n))
		}
		for k := range pipes + 1 {
			cmd.Args = append(cmd.Args, Word("-map"), Word("0:v:0"), Word("-vf"), Graph("scale=320:-2,metadata=print:file='pipe\\:"+strconv.Itoa(PipeFD(k))+"'"),
				Word("-frames:v"), Int{int64(k + 1), 1, 9}, Word("-f"), Word("rawvideo"), Pipe(k))
		}
		cmd.Args = append(cmd.Args, Word("-f"), Word("image2"), Out("f"+strconv.Itoa(inputs)+"-%03d.jpg"))
		g := GrantsOf(cmd, nil)
		args, err := Render(cmd, Programs()["ffmpeg"], g)
		if err != nil {
			rt.Fatal(err)
		}
		if err := Check(Programs()["ffmpeg"], args, g); err != nil {
			rt.Fatal(err)
		}
		g.Inputs--
		if err := Check(Programs()["ffmpeg"], args, g); err == nil {
			rt.Fatal("passed with one input less")
		}
	})
}

func TestRenderRefusesBadAtoms(t *testing.T) {
	t.Parallel()
	g := Grants{Inputs: 1, Pipes: 1, Data: map[string]string{"m": "/m"}}
	for _, a := range []Atom{
		In(-1), In(1), Pipe(2), Pipe(-1), Out("/x"), Out("a/b"), Out("-x"), Out("a:b"), Out(""), Out("a..b"), Out(".a"),
		Int{5, 0, 4},
		Decimal("1e3"), Decimal("NaN"), Decimal(""), Data("n"),
	} {
		if s, err := Render(Command{Program: "ffmpeg", Args: []Atom{a}}, ffmpegTable(), g); err == nil {
			t.Errorf("%#v became %q", a, s)
		}
	}
	got, err := Render(Command{Args: []Atom{In(0), Pipe(0), Pipe(1), Data("m"), Int{3, 0, 4}, Decimal("-0.5"), Out("a%03d.jpg")}}, ffmpegTable(), g)
	if diff := cmp.Diff([]string{"file:/proc/self/fd/4", "pipe:1", "pipe:3", "/m", "3", "-0.5", "a%03d.jpg"}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestEnv(t *testing.T) {
	t.Parallel()
	table := Programs()["tesseract"]
	if err := CheckEnv(table, map[string]string{"OMP_THREAD_LIMIT": "1"}); err != nil {
		t.Error(err)
	}
	for _, env := range []map[string]string{{"LD_PRELOAD": "x"}, {"OMP_THREAD_LIMIT": "/x"}, {"PATH": "1"}} {
		if CheckEnv(table, env) == nil {
			t.Errorf("passed: %v", env)
		}
	}
}

func TestPlainTable(t *testing.T) {
	t.Parallel()
	table := Plain("whisper-cli", map[string]Option{"-m": {Kind: FromData}, "-t": {Kind: Number}, "-nt": {}}, []Option{{Kind: FromInput}})
	g := Grants{Inputs: 1, Data: map[string]string{"m": "/opt/m.bin"}}
	if err := Check(table, split("-m /opt/m.bin -t 4 -nt /proc/self/fd/3"), g); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"-m /opt/n.bin", "-o x", "/etc/passwd", "-t"} {
		if Check(table, split(bad), g) == nil {
			t.Errorf("passed: %s", bad)
		}
	}
}

// FuzzCheck looks for argument lists that pass although a string in them names
// something outside: whatever passes holds absolute paths only where granted.
func FuzzCheck(f *testing.F) {
	for _, g := range good {
		f.Add(g.program, strings.Join(split(g.args), "\x00"))
	}
	f.Add("ffmpeg", "-nostdin\x00-vf\x00metadata=print:file='/tmp/x'\x00-")
	tables := Programs()
	grants := grantsFor(testGrants)
	f.Fuzz(func(t *testing.T, program, joined string) {
		args := strings.Split(joined, "\x00")
		if Check(tables[program], args, grants) != nil {
			return
		}
		for i, a := range args {
			if i > 0 && (strings.HasPrefix(args[i-1], "-metadata") || strings.HasPrefix(args[i-1], "-timecode")) {
				continue
			}
			for _, word := range []string{"=/etc/", "=/tmp/", ":/etc/", ":/tmp/", "http:/", "tcp:/", "movie=", "sendcmd=", "_script"} {
				if strings.Contains(a, "text=") || !strings.Contains(a, word) {
					continue
				}
				t.Errorf("%q passed in %q", word, args)
			}
			if strings.HasPrefix(a, "/etc/") || strings.HasPrefix(a, "/tmp/") {
				t.Errorf("%q passed in %q", a, args)
			}
		}
	})
}

// TestGraphQuoting compares the reader with what ffmpeg reads: a value's file name
// after both levels of quoting.
func TestGraphQuoting(t *testing.T) {
	t.Parallel()
	for graph, ok := range map[string]bool{
		`metadata=print:file=a.txt`:             true,
		`metadata=print:file='a.txt'`:           true,
		`metadata=print:file=\'a.txt\'`:         true,
		`metadata=print:file=a\,b`:              false,
		`metadata=print:fi'le=/x'`:              false,
		`metadata=mode=print: file =a.txt`:      true,
		`metadata=mode=print: file =/a.txt`:     false,
		`scale=iw/2:-2 , fps=30000/1001 [x]`:    true,
		` [a] [b] overlay=x='if(gt(t,1),2,3)' `: true,
		`overlay=x=if(gt(t\,1)\,2\,3);null`:     true,
		`null,`:                                 false,
		`;null`:                                 false,
		`null]`:                                 false,
		`scale@a=1:2`:                           true,
		`scale@a/b=1:2`:                         false,
		``:                                      false,
		`null=[`:                                false,
		`sws_flags=bicubic;scale=1:2`:           true,
		`drawtext=text=a:fontfile=/usr/share/fonts/DejaVu.ttf`: true,
	} {
		if err := checkGraph(graph, grantsFor(testGrants)); (err == nil) != ok {
			t.Errorf("%s: %v", graph, err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	table, args := Programs()["ffmpeg"], split(good[rand.N(2)].args)
	for b.Loop() {
		if err := Check(table, args, grantsFor(testGrants)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestLists: the demuxer that opens other files does so only for a list which the run
// brings with it and which names nothing outside the private folder.
func TestLists(t *testing.T) {
	t.Parallel()
	const args = "-nostdin -protocol_whitelist file -f concat -i l.txt -map 0:v:0 -c copy o.mp4"
	const probe = "-protocol_whitelist file -f concat l.txt"
	table := Programs()["ffmpeg"]
	for list, ok := range map[string]bool{
		"ffconcat version 1.0\nfile a.mp4\nduration 1.500000\nfile b.mp4\n": true,
		"ffconcat version 1.0\nfile a.mp4":                                  true,
		"":                                                                  false,
		"ffconcat version 1.0\n":                                            false,
		"file a.mp4\n":                                                      false,
		"ffconcat version 1.0\nfile /etc/passwd\n":                          false,
		"ffconcat version 1.0\nfile ../a.mp4\n":                             false,
		"ffconcat version 1.0\nfile b/a.mp4\n":                              false,
		"ffconcat version 1.0\nfile file:a.mp4\n":                           false,
		"ffconcat version 1.0\nfile http://x/a\n":                           false,
		"ffconcat version 1.0\nfile 'a.mp4'\n":                              false,
		"ffconcat version 1.0\nfile a.mp4\noption safe 0\n":                 false,
		"ffconcat version 1.0\nfile a.mp4\nduration x\n":                    false,
		"ffconcat version 1.0\nfile a.mp4\r\nfile /etc/passwd\n":            false,
		"ffconcat version 1.0\n file a.mp4\n":                               false,
		"ffconcat version 1.0\nfile a.mp4\nstream_codec file:/x.y\n":        false,
	} {
		g := GrantsOf(Command{Files: []File{{Name: "l.txt", Data: []byte(list)}}}, nil)
		if err := Check(table, strings.Fields(args), g); (err == nil) != ok {
			t.Errorf("%q: %v", list, err)
		}
		if err := Check(Programs()["ffprobe"], strings.Fields(probe), g); err == nil {
			t.Errorf("ffprobe opens the list %q", list)
		}
	}
	good := GrantsOf(Command{Files: []File{{Name: "l.txt", Data: []byte("ffconcat version 1.0\nfile a.mp4\n")}}, Inputs: []int{0}}, nil)
	for _, bad := range []string{
		"-nostdin -protocol_whitelist file -f concat -i other.txt -c copy o.mp4",
		"-nostdin -protocol_whitelist file -f concat -i file:l.txt -c copy o.mp4",
		"-nostdin -protocol_whitelist file -f concat -i file:/proc/self/fd/3 -c copy o.mp4",
		"-nostdin -protocol_whitelist file -f concat -safe 0 -i l.txt -c copy o.mp4",
		"-nostdin -f concat -i l.txt -c copy o.mp4",
		"-nostdin -protocol_whitelist file -i a.mp4 -f concat o.mp4",
	} {
		if err := Check(table, strings.Fields(bad), good); err == nil {
			t.Errorf("%s is let through", bad)
		}
	}
}
