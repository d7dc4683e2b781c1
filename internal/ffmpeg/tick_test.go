package ffmpeg

import (
	"math/big"
	"testing"

	"cutroom"

	"pgregory.net/rapid"
)

func TestFrameStartsNameTheirFrame(t *testing.T) {
	t.Parallel()
	// A frame's start rounded to a microsecond must name that very frame, at every
	// common rate and time base, though hundreds of starts round past it.
	for _, c := range []struct{ rate, tb Rational }{
		{Rational{30, 1}, Rational{1, 15360}},
		{Rational{30000, 1001}, Rational{1, 30000}},
		{Rational{24000, 1001}, Rational{1, 24000}},
		{Rational{25, 1}, Rational{1, 12800}},
		{Rational{29917, 1000}, Rational{1, 29917}},
		{Rational{60, 1}, Rational{1, 1000}},
	} {
		var prev Ticks
		for n := int64(0); n < 20_000; n++ {
			pts := Ticks(muldiv(n, c.rate.Den*c.tb.Den, c.rate.Num*c.tb.Num, nearest))
			if got := LastTick(pts.Micros(c.tb), c.tb); got < pts || got > pts+1+Ticks(c.tb.Den/500_000) {
				t.Fatalf("%v frame %d: time %v names tick %d, frame starts at %d", c, n, pts.Micros(c.tb), got, pts)
			}
			from, to := TickRange(prev.Micros(c.tb), pts.Micros(c.tb), c.tb)
			if n > 0 && (from > prev || to > pts || to <= prev) {
				t.Fatalf("%v frame %d: range [%d,%d) of frames %d..%d", c, n, from, to, prev, pts)
			}
			prev = pts
		}
	}
}

func TestMuldivIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		c := rapid.Int64Range(1, 1<<62).Draw(t, "c")
		p := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		if f := bigTicks(p, big.NewInt(c), floor); f != Ticks(muldiv(a, b, c, floor)) {
			t.Fatalf("floor %d·%d/%d = %d, want %d", a, b, c, muldiv(a, b, c, floor), f)
		}
		if f := bigTicks(p, big.NewInt(c), ceil); f != Ticks(muldiv(a, b, c, ceil)) {
			t.Fatalf("ceil %d·%d/%d = %d, want %d", a, b, c, muldiv(a, b, c, ceil), f)
		}
	})
}

func TestTicksRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tb := Rational{1, rapid.Int64Range(1, 1_000_000).Draw(t, "den")}
		n := Ticks(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "ticks"))
		if got := TicksOf(n.Micros(tb), tb); got != n {
			t.Fatalf("%d ticks of %v came back as %d", n, tb, got)
		}
	})
}

func TestTimecodeRoundTrip(t *testing.T) {
	t.Parallel()
	for _, base := range []int{24, 25, 30, 60} {
		for _, drop := range []bool{false, true} {
			if drop && base%30 != 0 {
				continue
			}
			seen := map[string]bool{}
			for n := int64(0); n < int64(base)*620; n++ {
				tc := TimecodeOf(n, base, drop)
				back, err := ParseTimecode(tc.String())
				if err != nil {
					t.Fatal(err)
				}
				if got, err := back.Count(base); err != nil || got != n || seen[tc.String()] {
					t.Fatalf("base %d drop %v frame %d: %s counts %d, %v", base, drop, n, tc, got, err)
				}
				seen[tc.String()] = true
			}
		}
	}
}

func TestDropFrameLabels(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		1799: "00:00:59;29", 1800: "00:01:00;02", 17981: "00:09:59;29", 17982: "00:10:00;00",
		90: "00:00:03;00", 107892: "01:00:00;00", 2589408: "00:00:00;00", -1: "23:59:59;29",
	} {
		if got := TimecodeOf(n, 30, true).String(); got != want {
			t.Errorf("frame %d is %s, want %s", n, got, want)
		}
	}
	for _, s := range []string{"00:01:00;00", "00:01:00;01"} {
		tc, err := ParseTimecode(s)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := tc.Count(30); err == nil {
			t.Errorf("%s counts %d, but does not exist", s, n)
		}
	}
	if got := Base(Rational{30000, 1001}); got != 30 {
		t.Errorf("base of 29.97 is %d", got)
	}
}

func TestMicrosOfTicks(t *testing.T) {
	t.Parallel()
	if got := Ticks(1).Micros(Rational{1, 3}); got != 333333 {
		t.Error(got)
	}
	if got := Ticks(1 << 62).Micros(Rational{1, 1 << 62}); got != cutroom.Second {
		t.Error(got)
	}
	if got := Ticks(-1).Micros(Rational{1 << 50, 1 << 50}); got != -cutroom.Second {
		t.Error(got)
	}
}
