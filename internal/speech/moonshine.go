package speech

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"cutroom/internal/onnx"
)

// Tokens that steer the decoder.
const (
	tokenStart = 1
	tokenEnd   = 2
)

// tokensPerSecond bounds how much a person says: English speech stays below it, a
// model that invents text does not.
const tokensPerSecond = 6.5

// moonshine is the speech model: an encoder that hears a stretch of speech, and a
// decoder that writes one token after the other. Several goroutines may use it.
type moonshine struct {
	encoder, decoder *onnx.Session
	words            vocabulary
	empty            *onnx.Tensor      // a cache before the first token
	past             map[string]string // decoder's cache inputs, and the outputs that renew them
	growing          []string          // logits, and the cache outputs that grow with each token
}

// newMoonshine loads a Moonshine model of any size; its layers and dimensions are
// read from the decoder's inputs.
func newMoonshine(r *onnx.Runtime, m Model, f files, threads int) (*moonshine, error) {
	words, err := loadVocabulary(f.Vocabulary)
	if err != nil {
		return nil, err
	}
	encoder, err := r.Load(f.Encoder, threads)
	if err != nil {
		return nil, err
	}
	decoder, err := r.Load(f.Decoder, threads)
	if err != nil {
		encoder.Close()
		return nil, err
	}
	e := &moonshine{encoder: encoder, decoder: decoder, words: words, past: map[string]string{}, growing: []string{"logits"}}
	for _, name := range decoder.Inputs {
		rest, ok := strings.CutPrefix(name, "past_key_values")
		if !ok {
			continue
		}
		e.past[name] = "present" + rest
		if strings.Contains(rest, ".decoder.") {
			e.growing = append(e.growing, "present"+rest)
		}
		shape := decoder.InputShape(name)
		if len(shape) != 4 || shape[1] <= 0 || shape[3] <= 0 {
			e.close()
			return nil, fmt.Errorf("model %s: cache %s has shape %v", m, name, shape)
		}
		e.empty = onnx.Float32(nil, 0, shape[1], 1, shape[3])
	}
	if e.empty == nil {
		e.close()
		return nil, fmt.Errorf("model %s: the decoder has no cache", m)
	}
	return e, nil
}

func (e *moonshine) close() {
	e.encoder.Close()
	e.decoder.Close()
}

// hypothesis is what the model made of one stretch.
type hypothesis struct {
	text   string
	tokens int
	score  float64 // mean natural logarithm of the tokens' probabilities
	loop   bool    // it repeated itself; text holds the first turn
	cut    bool    // it did not come to an end within the bound
}

// transcribe hears audio (samples in -1..1 at SampleRate).
func (e *moonshine) transcribe(audio []float32) (hypothesis, error) {
	heard, err := e.encoder.Run(map[string]*onnx.Tensor{"input_values": onnx.Float32(audio, 1, int64(len(audio)))})
	if err != nil {
		return hypothesis{}, fmt.Errorf("speech encoder: %w", err)
	}
	hidden := heard["last_hidden_state"]
	defer hidden.Free()
	d := e.decode(hidden)
	defer d.close()
	w := writer{limit: int(float64(len(audio))/SampleRate*tokensPerSecond) + 2}
	for {
		logits, err := d.next(w.last())
		if err != nil {
			return hypothesis{}, fmt.Errorf("speech decoder: %w", err)
		}
		if !w.take(best(logits)) {
			break
		}
	}
	return w.result(e.words), nil
}

// decoding is the state of the decoder between tokens.
type decoding struct {
	model  *moonshine
	in     map[string]*onnx.Tensor
	token  []int64 // the input_ids tensor's memory
	cached []bool  // the use_cache_branch tensor's memory
	logits *onnx.Tensor
}

func (e *moonshine) decode(hidden *onnx.Tensor) *decoding {
	d := &decoding{model: e, token: make([]int64, 1), cached: make([]bool, 1)}
	d.in = map[string]*onnx.Tensor{
		"input_ids":             onnx.Int64(d.token, 1, 1),
		"encoder_hidden_states": hidden,
		"use_cache_branch":      onnx.Bool(d.cached, 1),
	}
	for name := range e.past {
		d.in[name] = e.empty
	}
	return d
}

// next feeds the token written last and returns the scores of the one to come,
// which are valid until the following call.
func (d *decoding) next(token int) ([]float32, error) {
	d.logits.Free()
	d.logits = nil
	d.token[0] = int64(token)
	// The first run also computes what the decoder keeps of the encoder's output.
	var want []string
	if d.cached[0] {
		want = d.model.growing
	}
	out, err := d.model.decoder.Run(d.in, want...)
	if err != nil {
		return nil, err
	}
	d.cached[0] = true
	d.logits = out["logits"]
	for input, output := range d.model.past {
		if t := out[output]; t != nil {
			d.in[input].Free()
			d.in[input] = t
		}
	}
	scores := d.logits.Floats()
	if len(scores) == 0 {
		return nil, errors.New("no scores")
	}
	return scores, nil
}

func (d *decoding) close() {
	d.logits.Free()
	for name := range d.model.past {
		d.in[name].Free()
	}
}

// best returns the token with the highest score, and the natural logarithm of its
// probability under softmax.
func best(scores []float32) (token int, logProbability float64) {
	for i, s := range scores {
		if s > scores[token] {
			token = i
		}
	}
	// Terms below e^-18 of the largest add less than 0.0005 all together.
	top, sum := scores[token], float32(0)
	for _, s := range scores {
		if d := s - top; d > -18 {
			sum += exponential(d)
		}
	}
	return token, -math.Log(float64(sum))
}

// exponential returns e^x for x in -80..0 to four digits, in a tenth of math.Exp's
// time: a token's score needs it 32768 times.
func exponential(x float32) float32 {
	y := x * math.Log2E
	whole := int32(y) // toward zero: what remains is in (-1, 0]
	t := (y - float32(whole)) * math.Ln2
	p := 1 + t*(1+t*(1./2+t*(1./6+t*(1./24+t*(1./120+t*(1./720))))))
	return math.Float32frombits(uint32(int32(math.Float32bits(p)) + whole<<23))
}
