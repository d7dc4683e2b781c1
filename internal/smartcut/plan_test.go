package smartcut

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"cutroom/internal/ffmpeg"
)

// stream makes packets in decoding order: groups of pictures with B-frames between
// anchors, open ones with frames of the next group's beginning before its key frame.
func stream(t *rapid.T) *index {
	x := &index{whole: true, delay: 1}
	step := ffmpeg.Ticks(rapid.IntRange(1, 2000).Draw(t, "step"))
	at := ffmpeg.Ticks(rapid.IntRange(0, 5000).Draw(t, "start"))
	n := 0
	for range rapid.IntRange(1, 8).Draw(t, "groups") {
		open := n > 0 && rapid.Bool().Draw(t, "open")
		for i := range rapid.IntRange(1, 8).Draw(t, "anchors") {
			between := rapid.IntRange(0, 3).Draw(t, "between")
			if i == 0 && !open {
				between = 0
			}
			anchor := at + ffmpeg.Ticks(n+between)*step
			x.packets = append(x.packets, packet{pts: anchor, key: i == 0})
			for k := range between {
				x.packets = append(x.packets, packet{pts: at + ffmpeg.Ticks(n+k)*step})
			}
			n += between + 1
		}
	}
	for i := range x.packets {
		x.packets[i].pos, x.packets[i].dur = int64(i), step
		x.packets[i].dts = min(x.packets[i].pts, at+ffmpeg.Ticks(i)*step-3*step)
	}
	return x
}

// TestTake: the pieces of a cut show each of its frames once, in order, and what is
// copied is a run of packets that shows just the frames of its piece.
func TestTake(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := stream(t)
		shown := x.shown()
		a := rapid.IntRange(0, len(shown)-1).Draw(t, "first")
		b := rapid.IntRange(a, len(shown)-1).Draw(t, "last")
		c := cut{from: shown[a], to: shown[b] + x.packets[0].dur, frames: shown[a : b+1]}
		r := rules{
			begin: func(ffmpeg.Ticks) bool { return true }, open: func(ffmpeg.Ticks) bool { return false },
			least: rapid.IntRange(1, 4).Draw(t, "least"), encodes: true,
		}
		c = x.take(c, r, false, x.suffix())
		at := c.from
		for _, p := range c.pieces {
			if p.from != at && count(c.frames, at, p.from) > 0 || p.from >= p.to || p.frames != count(c.frames, p.from, p.to) || p.frames == 0 {
				t.Fatalf("%+v after %d", p, at)
			}
			at = p.to
			if !p.copied {
				if c.why == "" && p.frames < r.least {
					t.Fatalf("%d frames are encoded, fewer than %d", p.frames, r.least)
				}
				continue
			}
			first := slices.IndexFunc(x.packets, func(q packet) bool { return q.pts == p.from })
			var times []ffmpeg.Ticks
			for _, q := range x.packets[first:] {
				if q.pts >= p.from && len(times) < p.packets {
					times = append(times, q.pts)
				}
			}
			slices.Sort(times)
			i, _ := slices.BinarySearch(c.frames, p.from)
			if !x.packets[first].key || !slices.Equal(times, c.frames[i:i+p.frames]) {
				t.Fatalf("the packets show %v, the piece is %+v", times, p)
			}
		}
		if at < c.frames[len(c.frames)-1] {
			t.Fatalf("the pieces end at %d, the cut at %d", at, c.to)
		}
	})
}

// TestSnap: a cut of packets only begins with a key frame and loses no frame.
func TestSnap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := stream(t)
		shown := x.shown()
		a := rapid.IntRange(0, len(shown)-1).Draw(t, "first")
		b := rapid.IntRange(a, len(shown)-1).Draw(t, "last")
		asked := cut{from: shown[a], to: shown[b] + x.packets[0].dur, frames: shown[a : b+1]}
		r := rules{begin: func(ffmpeg.Ticks) bool { return true }, open: func(ffmpeg.Ticks) bool { return false }}
		c := x.snap(asked, r, false, shown, x.suffix(), x.packets[0].dur)
		if c.why != "" {
			t.Fatal(c.why)
		}
		if c.from > asked.from || c.to < asked.to || len(c.pieces) != 1 || c.pieces[0].packets != len(c.frames) || c.frames[0] != c.from {
			t.Fatalf("asked %+v, got %+v", asked, c)
		}
	})
}

func FuzzReadIndex(f *testing.F) {
	f.Add("pts=61440|dts=60416|duration=512|pos=434942|flags=K_\npts=N/A|dts=3|flags=__\nprofile=High|has_b_frames=2|level=30|refs=1\n")
	f.Add("pts=9223372036854775807|dts=-9223372036854775808|flags=KD\n|||\nflags=\n")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := readIndex(strings.NewReader(text), false, true)
		if err != nil {
			return
		}
		shown := x.shown()
		if !slices.IsSorted(shown) || len(shown) > len(x.packets) {
			t.Fatalf("%v", shown)
		}
		if len(shown) > 0 {
			c := cut{from: shown[0], to: shown[len(shown)-1] + 1, frames: shown}
			x.take(c, rules{begin: func(ffmpeg.Ticks) bool { return true }, open: func(ffmpeg.Ticks) bool { return true }, least: 2, encodes: true}, true, x.suffix())
		}
	})
}

func FuzzReadWritten(f *testing.F) {
	f.Add("#tb 0: 1/1000\n0, 0, 0, 33, 100, abcd\n0, 33, 66, 33, 100, 0x12\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readWritten([]share{{1, false}, {2, true}})(strings.NewReader(text))
		if w, ok := v.(*written); err == nil && (!ok || len(w.digests) > 2 || !slices.IsSorted(w.times)) {
			t.Fatalf("%+v", v)
		}
		if _, err := readHeard(strings.NewReader(text)); err != nil {
			return
		}
	})
}

// TestBreakLink: a CRA picture becomes a BLA picture, byte for byte otherwise the same.
func TestBreakLink(t *testing.T) {
	t.Parallel()
	of := func(sps, slice byte) []byte {
		return []byte("\x00\x00\x00\x08moof\x00\x00\x00\x17mdat\x00\x00\x00\x03" + string([]byte{sps, 1, 9}) + "\x00\x00\x00\x04" + string([]byte{slice, 1, 0xaf, 0x15}))
	}
	got := of(33<<1, 21<<1|1)
	if err := breakLink(got); err != nil || !bytes.Equal(got, of(33<<1, 18<<1|1)) {
		t.Errorf("%v: % x", err, got)
	}
	for _, bad := range [][]byte{nil, of(33<<1, 19<<1), of(33<<1, 21<<1)[:20], []byte("\x00\x00\x00\x07mdat"), []byte("\x00\x00\x00\x0dmdat\x00\x00\x00\x09\x2a")} {
		if err := breakLink(bytes.Clone(bad)); err == nil {
			t.Errorf("% x is taken", bad)
		}
	}
}

func FuzzBreakLink(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08moof\x00\x00\x00\x10mdat\x00\x00\x00\x04\x2a\x01\xaf\x15"))
	f.Add([]byte("\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x18\x00\x00\x00\x04\x2a\x01\xaf\x15"))
	f.Fuzz(func(t *testing.T, data []byte) {
		was := bytes.Clone(data)
		if breakLink(data) != nil {
			return
		}
		for i, b := range data {
			if b != was[i] && (was[i]>>1&0x3f != unitCRA || b>>1&0x3f != unitBLA || b&0x81 != was[i]&0x81) {
				t.Fatalf("byte %d was %x and is %x", i, was[i], b)
			}
		}
	})
}
