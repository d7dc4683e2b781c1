package child

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var sample = Order{
	Exe: 7, Ruleset: 8, Status: -1, Keep: 5, PidMark: 0x7ffffff1, KeepCaps: 4,
	Limits:  []Limit{{9, 1 << 40}, {4, 0}},
	Filters: [][]byte{{1, 2, 3, 4, 5, 6, 7, 8}},
	Args:    []string{"ffmpeg", "-i", "", "ü\n"}, Env: []string{"A=b"},
}

func TestOrderComesBack(t *testing.T) {
	t.Parallel()
	for _, o := range []Order{sample, {Exe: -1}} {
		got, err := Decode(o.Encode()[4:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&o, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestACutOrderIsRefused(t *testing.T) {
	t.Parallel()
	whole := sample.Encode()[4:]
	for n := range whole {
		if _, err := Decode(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes passed", n, len(whole))
		}
	}
	if _, err := Decode(append(bytes.Clone(whole), 0)); err == nil {
		t.Error("a longer one passed")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(sample.Encode()[4:])
	f.Add((&Order{}).Encode()[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Decode(b)
		if err == nil && !bytes.Equal(o.Encode()[4:], b) {
			t.Errorf("%x came back as %x", b, o.Encode()[4:])
		}
	})
}
