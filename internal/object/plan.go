package object

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"cutroom"
	"cutroom/internal/sandbox/argv"
)

// Program is the engine's name in the toolchain.
const Program = "object"

// The names of the toolchain's data files that the engine needs.
const (
	GraphFile   = "object/centernet.json"
	WeightsFile = "object/centernet.bin"
	// SampleFile is a photograph of people, to try the engine on.
	SampleFile = "object/people.jpg"
)

// The bounds and defaults of [Options].
const (
	DefaultScore   = 0.35
	DefaultLimit   = 20
	DefaultThreads = 2
	MaxLimit       = 100
	MaxPictures    = 240
	leastScore     = 0.05
	maxThreads     = 16
)

// Options say what is looked for. The zero value takes the defaults.
type Options struct {
	Score   float64 // least score, 0.05..1; 0 is [DefaultScore]
	Limit   int     // most objects of one picture, 1..100; 0 is [DefaultLimit]
	Threads int     // 1..16; 0 is [DefaultThreads]
}

// Check refuses options out of their bounds (invalid).
func (o Options) Check() error {
	switch {
	case o.Score != 0 && !(o.Score >= leastScore && o.Score <= 1):
		return cutroom.Errorf(cutroom.Invalid, "a least score of %v is not within %v to 1", o.Score, leastScore)
	case o.Limit < 0 || o.Limit > MaxLimit:
		return cutroom.Errorf(cutroom.Invalid, "%d objects are not within 1 to %d", o.Limit, MaxLimit)
	case o.Threads < 0 || o.Threads > maxThreads:
		return cutroom.Errorf(cutroom.Invalid, "%d threads are not within 1 to %d", o.Threads, maxThreads)
	}
	return nil
}

func (o Options) filled() Options {
	if o.Score == 0 {
		o.Score = DefaultScore
	}
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if o.Threads == 0 {
		o.Threads = DefaultThreads
	}
	return o
}

// Command returns the run of the child over the given inputs of the call: JPEG, PNG
// or WebP pictures, at most [MaxPictures]. Options have to be checked. [Views] reads
// its result.
func Command(step string, inputs []int, o Options) argv.Command {
	c := command(step, o, argv.Ins(len(inputs)))
	c.Inputs = inputs
	return c
}

// CommandOf is [Command] over files that an earlier step left in the private folder.
func CommandOf(step string, files []string, o Options) argv.Command {
	return command(step, o, argv.Outs(files))
}

// Trial returns the run of the child over the photograph that comes with the model,
// in which it finds people. [Tried] reads its result.
func Trial(step string) argv.Command {
	return command(step, Options{Threads: 1}, []argv.Atom{argv.Data(SampleFile)})
}

// Tried is nil when the run of [Trial] found the people.
func Tried(r argv.Result) error {
	views, err := Views(r)
	if err != nil {
		return err
	}
	for _, o := range views[0].Objects {
		if o.Label == "person" {
			return nil
		}
	}
	return cutroom.Errorf(cutroom.ToolFailed, "the object detector does not find the people in its sample")
}

func command(step string, o Options, pictures []argv.Atom) argv.Command {
	o = o.filled()
	n := len(pictures)
	args := []argv.Atom{
		argv.Word("--graph"), argv.Data(GraphFile), argv.Word("--weights"), argv.Data(WeightsFile),
		argv.Word("--score"), argv.Word(strconv.FormatFloat(o.Score, 'f', -1, 64)),
		argv.Word("--limit"),
		argv.Int{N: int64(o.Limit), Min: 1, Max: MaxLimit},
		argv.Word("--threads"),
		argv.Int{N: int64(o.Threads), Min: 1, Max: maxThreads},
	}
	stage := "looking for objects in 1 picture"
	if n != 1 {
		stage = fmt.Sprintf("looking for objects in %d pictures", n)
	}
	return argv.Command{
		Step: step, Program: Program, Args: append(args, pictures...),
		Consume: []argv.Consumer{func(r io.Reader) (any, error) { return readViews(r, n, o.Limit) }},
		Env:     map[string]string{"GOMAXPROCS": strconv.Itoa(o.Threads)},
		Limits: argv.Limits{
			Wall:   60*time.Second + time.Duration(n)*20*time.Second,
			Memory: 4 << 30, // address space: the model's 100 MB, and a picture of picture.MaxPixels while it is decoded
		},
		Stage: stage,
	}
}

// Views are what a run of [Command] found, in the order of its inputs.
func Views(r argv.Result) ([]View, error) {
	if len(r.Values) == 1 {
		if views, ok := r.Values[0].([]View); ok {
			return views, nil
		}
	}
	return nil, errors.New("the object detector left no answer")
}
