package object

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom/internal/picture"
	"cutroom/internal/testenv"
)

// A damaged model is refused with a reason, or answers something that passes the check;
// it never takes the child down.
func TestDamagedModel(t *testing.T) {
	t.Parallel()
	dir := testenv.Models(t)
	graph, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(GraphFile)))
	if err != nil {
		t.Fatal(err)
	}
	weights, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(WeightsFile)))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(from, to string) []byte {
		out := bytes.ReplaceAll(graph, []byte(from), []byte(to))
		if bytes.Equal(out, graph) {
			t.Fatalf("the graph has no %s", from)
		}
		return out
	}
	for name, c := range map[string]struct {
		graph, weights []byte
		want           string
	}{
		"cut weights":   {graph, weights[:len(weights)-1], "more than there is"},
		"more weights":  {graph, append(bytes.Clone(weights), 0, 0), "belong to nothing"},
		"no output":     {replaced(`"tower_0/wh"`, `"tower_0/hw"`), weights, "no node"},
		"no input":      {replaced(`"Placeholder"`, `"Unknown"`), weights, "no input"},
		"other strides": {replaced(`["1","2","2","1"]`, `["1","1","1","1"]`), weights, ""},
		"an operation":  {replaced(`"Sigmoid"`, `"WriteFile"`), weights, "not known"},
		"another name":  {replaced(`{"name":"tower_0/images","op"`, `{"name":"tower_0/other","op"`), weights, "no input"},
	} {
		m, err := parseModel(c.graph, c.weights)
		if err == nil {
			_, err = newDetector(m, 1)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	im := open(t, sample(t))
	rng, tried := rand.New(rand.NewPCG(1, 2)), 0
	for range 6 {
		bad := bytes.Clone(weights)
		for range 1 + rng.IntN(60) {
			bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		}
		m, err := parseModel(graph, bad)
		if err != nil {
			continue // not finite
		}
		d, err := newDetector(m, 2)
		if err != nil {
			continue // a shape in the weights is another
		}
		tried++
		v := View{Width: 800, Height: 718, Objects: d.Find(im, picture.Upright, leastScore, MaxLimit)}
		if err := v.check(MaxLimit); err != nil {
			t.Errorf("a model with random faults: %v", err)
		}
	}
	if tried == 0 {
		t.Error("every damaged model was refused: nothing was tried")
	}
}
