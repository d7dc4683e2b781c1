package cutroom

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestParseMicros(t *testing.T) {
	t.Parallel()
	good := map[string]Micros{
		"0": 0, "12": 12_000_000, "12.5": 12_500_000, ".5": 500_000, "5.": 5_000_000, "1e3": 1_000_000_000, "1.5e-3": 1500,
		"0.0000005": 1, "0.00000049": 0, "0.00000149999": 1, "1:02.5": 62_500_000, "01:02:03.004": 3_723_004_000, "-1.25": -1_250_000,
		"33.3333333333333333333333": 33_333_333, "66.6666666666": 66_666_667, "9007199254.740991": MaxMicros, "100:00:00": 360_000_000_000, "1:00": 60_000_000,
	}
	for in, want := range good {
		if got, err := ParseMicros(in); err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "-", ".", "a", "1:", ":1", "1:60", "1:2:3:4", "1.5:00", "1e", "1e99", "0x10", "1,5", "NaN", "Inf", "9007199254.740992", "1:1e3", "--1", "1 2", "99999999999999999999"} {
		if got, err := ParseMicros(in); err == nil {
			t.Errorf("%q passed as %d", in, got)
		}
	}
}

func TestMicrosText(t *testing.T) {
	t.Parallel()
	for m, want := range map[Micros]string{0: "0", 1: "0.000001", 1_500_000: "1.5", -20: "-0.00002", 60_000_000: "60", MaxMicros: "9007199254.740991"} {
		if got := m.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(m), got, want)
		}
	}
	if got := Micros(3_723_004_999).Clock(); got != "1:02:03.004" {
		t.Errorf("clock %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := Micros(rapid.Int64Range(-int64(MaxMicros), int64(MaxMicros)).Draw(t, "m"))
		raw, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back Micros
		if err := json.Unmarshal(raw, &back); err != nil || back != m {
			t.Fatalf("%d became %s and %d (%v)", m, raw, back, err)
		}
	})
}

func FuzzParseMicros(f *testing.F) {
	f.Add("1:02:03.5")
	f.Add("1e-7")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMicros(s)
		if err != nil {
			return
		}
		if back, err := ParseMicros(m.String()); err != nil || back != m {
			t.Errorf("%q is %d, written %s, read %d (%v)", s, m, m, back, err)
		}
	})
}
