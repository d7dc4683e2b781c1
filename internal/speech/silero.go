package speech

import (
	"fmt"

	"cutroom/internal/onnx"
)

// Sizes of the voice detector's input, in samples (Silero VAD 5 and 6 at 16 kHz).
const (
	frameSize   = 512 // one decision
	contextSize = 64  // of the frame before
	stateSize   = 2 * 128
)

// detector is the voice detector: it hears one frame after the other and says how
// probable speech is in it.
type detector struct {
	session *onnx.Session
	heard   []float32 // context and frame, given to the model in place
	in      map[string]*onnx.Tensor
}

func newDetector(r *onnx.Runtime, model string) (*detector, error) {
	s, err := r.Load(model, 1)
	if err != nil {
		return nil, err
	}
	d := &detector{session: s, heard: make([]float32, contextSize+frameSize)}
	d.in = map[string]*onnx.Tensor{
		"input": onnx.Float32(d.heard, 1, contextSize+frameSize),
		"state": onnx.Float32(make([]float32, stateSize), 2, 1, stateSize/2),
		"sr":    onnx.Int64([]int64{SampleRate}),
	}
	return d, nil
}

// probability hears the next frame, which has frameSize samples, and returns how
// probable it is that somebody speaks in it.
func (d *detector) probability(frame []int16) (float32, error) {
	copy(d.heard, d.heard[frameSize:])
	for i, s := range frame {
		d.heard[contextSize+i] = float32(s) / 32768
	}
	out, err := d.session.Run(d.in)
	if err != nil {
		return 0, fmt.Errorf("voice detector: %w", err)
	}
	defer out["output"].Free()
	d.in["state"].Free()
	d.in["state"] = out["stateN"]
	p := out["output"].Floats()
	if len(p) != 1 {
		return 0, fmt.Errorf("voice detector: %d probabilities for a frame", len(p))
	}
	return p[0], nil
}

func (d *detector) close() {
	d.in["state"].Free()
	d.session.Close()
}
