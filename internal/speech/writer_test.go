package speech

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestRepetition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ids  []int
		want int
	}{
		{nil, 0},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1}, 0},
		{[]int{1, 1, 1, 1, 1, 1, 1, 1, 1}, 3},
		{[]int{9, 1, 2, 3, 1, 2, 3, 1, 2, 3}, 3},
		{[]int{1, 2, 3, 1, 2, 3, 1, 2, 4}, 0},
		{[]int{1, 2, 3, 1, 2, 3, 1, 2, 3, 9}, 0},
		{[]int{1, 2, 1, 2, 1, 2}, 0},
	} {
		if got := repetition(c.ids); got != c.want {
			t.Errorf("%v: %d", c.ids, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		head := rapid.SliceOfN(rapid.IntRange(0, 50), 0, 30).Draw(t, "head")
		phrase := rapid.SliceOfN(rapid.IntRange(0, 50), loopMin, loopMax).Draw(t, "phrase")
		ids := slices.Concat(head, phrase, phrase, phrase)
		n := repetition(ids)
		if n == 0 || n > len(phrase) {
			t.Fatalf("%v: %d", ids, n)
		}
	})
}

func TestWriter(t *testing.T) {
	t.Parallel()
	v := vocabulary{nil, nil, nil, []byte(" a"), []byte(" b"), []byte(" c"), {0xe2, 0x82}, {0xac}, {0xff}}
	for name, c := range map[string]struct {
		ids  []int
		want hypothesis
	}{
		"silent":     {[]int{tokenEnd}, hypothesis{}},
		"words":      {[]int{3, 4, tokenEnd, 5}, hypothesis{text: "a b", tokens: 2, score: -0.5}},
		"halves":     {[]int{3, 6, 7, tokenEnd}, hypothesis{text: "a€", tokens: 3, score: -0.5}},
		"broken":     {[]int{3, 8, tokenEnd}, hypothesis{text: "a\uFFFD", tokens: 2, score: -0.5}},
		"marks":      {[]int{3, 32001, 4, tokenEnd}, hypothesis{text: "a b", tokens: 3, score: -0.5}},
		"loop":       {[]int{3, 3, 4, 5, 3, 4, 5, 3, 4, 5, 3, 4, 5}, hypothesis{text: "a a b c", tokens: 10, score: -0.5, loop: true}},
		"never ends": {[]int{3, 3, 4, 4, 3, 4, 5, 3, 5, 5, 4, 3}, hypothesis{text: "a a b b a b c a c c", tokens: 10, score: -0.5, cut: true}},
	} {
		w := writer{limit: 10}
		for _, id := range c.ids {
			if !w.take(id, -0.5) {
				break
			}
		}
		if diff := cmp.Diff(c.want, w.result(v), cmp.AllowUnexported(hypothesis{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestExponential(t *testing.T) {
	t.Parallel()
	for x := float32(0); x > -80; x -= 0.0137 {
		want := math.Exp(float64(x))
		if got := float64(exponential(x)); math.Abs(got-want) > 1e-4*want {
			t.Fatalf("e^%v is %v, not %v", x, got, want)
		}
	}
}

func TestBest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Float32Range(-60, 60), 1, 300).Draw(t, "scores")
		token, logp := best(scores)
		if slices.Max(scores) != scores[token] {
			t.Fatalf("%v is not the best", scores[token])
		}
		var sum float64
		for _, s := range scores {
			sum += math.Exp(float64(s) - float64(scores[token]))
		}
		if math.Abs(logp+math.Log(sum)) > 1e-4 {
			t.Fatalf("%v instead of %v", logp, -math.Log(sum))
		}
	})
}
