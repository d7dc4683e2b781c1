package tool

import (
	"fmt"

	"cutroom"
	"cutroom/internal/align"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

// laterFor is how much of the end of a long overlap is listened to for the drift.
const laterFor = 24 * cutroom.Second

// Aligning measures recordings against a reference: one run listens to the reference
// and the second, one more to each further source; where the overlap goes on behind
// what was listened to, its end is listened to as well. It is a [Script].
type Aligning struct {
	Matches []align.Match    // of all but the reference, in their order, as far as they were heard
	files   []ffmpeg.Hearing // the reference first
	names   []string
	length  cutroom.Micros
	step    string
	sound   *align.Sound // of the reference
	later   bool         // the run that comes next, or was last, is of the last match's end
}

// NewAligning returns the measuring of f's inputs, the reference first.
func NewAligning(inputs []Input, length cutroom.Micros) (*Aligning, error) {
	a := &Aligning{length: length, step: "listen"}
	for i, in := range inputs {
		name := "the reference"
		if i > 0 {
			name = "the second recording"
		}
		if i > 1 {
			name = fmt.Sprintf("source %d", i+1)
		}
		a.files = append(a.files, ffmpeg.Hearing{In: in.Index, Format: in.Format, Media: in.Media})
		a.names = append(a.names, fmt.Sprintf("%s (%s)", name, in.Text))
	}
	_, err := a.Planned()
	return a, err
}

// Planned are the runs that listen, for a dry run and to find what cannot be heard.
func (a *Aligning) Planned() ([]argv.Command, error) {
	var list []argv.Command
	for i := 1; i < len(a.files); i++ {
		c, err := a.hear(i)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// hear is the run that listens to source i, and for the first one to the reference.
func (a *Aligning) hear(i int) (argv.Command, error) {
	from := i
	if i == 1 {
		from = 0
	}
	var list []ffmpeg.Hearing
	for _, h := range a.files[from : i+1] {
		h.End = a.length
		h.Consume = func(first cutroom.Micros) argv.Consumer { return align.Listen(first, a.length) }
		list = append(list, h)
	}
	return ffmpeg.Listen(fmt.Sprintf("%s%d", a.step, i), align.Rate, list, a.names[from:i+1])
}

// Next returns the next run.
func (a *Aligning) Next() (argv.Command, bool) {
	i := len(a.Matches) + 1
	if a.later {
		c, err := a.hearEnd(i - 1)
		if err == nil {
			return c, true
		}
		a.later = false
	}
	if i >= len(a.files) {
		return argv.Command{}, false
	}
	c, err := a.hear(i)
	return c, err == nil // planned has seen the error
}

// hearEnd is the run that listens to the end of the overlap with source i.
func (a *Aligning) hearEnd(i int) (argv.Command, error) {
	m := &a.Matches[i-1]
	at, second, ok := m.Later(heardUntil(a.files[0]), heardUntil(a.files[i]), laterFor)
	if !ok {
		return argv.Command{}, fmt.Errorf("nothing is left to hear")
	}
	list := []ffmpeg.Hearing{a.files[0], a.files[i]}
	for k, start := range []cutroom.Micros{at, second} {
		list[k].Start, list[k].End = start, start+laterFor
		list[k].Consume = func(first cutroom.Micros) argv.Consumer { return align.Listen(first, laterFor) }
	}
	return ffmpeg.Listen(fmt.Sprintf("%s%dend", a.step, i), align.Rate, list, []string{a.names[0], a.names[i]})
}

// Again is the measuring of a written file against the same reference.
func (a *Aligning) Again(written ffmpeg.Hearing) *Aligning {
	return &Aligning{files: []ffmpeg.Hearing{a.files[0], written}, names: []string{a.names[0], "the written file"}, length: a.length, step: "verify"}
}

// heardUntil is where a file's sound ends, 0 when that is unknown.
func heardUntil(h ffmpeg.Hearing) cutroom.Micros {
	s, err := h.Media.AudioStream(h.Stream)
	if err == nil && s.EndSeconds > 0 {
		return s.EndSeconds
	}
	return h.Media.DurationSeconds
}

// Feed takes what a run left behind.
func (a *Aligning) Feed(res argv.Result) error {
	var heard []*align.Sound
	for _, v := range res.Values {
		if s, ok := v.(*align.Sound); ok {
			heard = append(heard, s)
		}
	}
	if a.later {
		a.later = false
		if len(heard) != 2 {
			return fmt.Errorf("the end was not heard")
		}
		a.Matches[len(a.Matches)-1].Extend(heard[0], heard[1])
		return nil
	}
	if len(a.Matches) == 0 && len(heard) == 2 {
		a.sound, heard = heard[0], heard[1:]
	}
	if len(heard) != 1 || a.sound == nil {
		return fmt.Errorf("the recordings were not heard")
	}
	m := align.Compare(a.sound, heard[0])
	a.Matches = append(a.Matches, m)
	i := len(a.Matches)
	_, _, a.later = m.Later(heardUntil(a.files[0]), heardUntil(a.files[i]), laterFor)
	return nil
}
