package proof

import (
	"cutroom"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/sandbox/argv"
)

type Proof struct{}

func New(e Expectation, a *ffmpeg.Abilities) *Proof { return &Proof{} }
func (p *Proof) Next() (argv.Command, bool)         { return argv.Command{}, false }
func (p *Proof) Feed(argv.Result) error             { return nil }
func (p *Proof) Rows() []cutroom.Verified           { return nil }
func (p *Proof) Probe() *ffmpeg.Document            { return nil }
func (p *Proof) Err() error                         { return nil }
