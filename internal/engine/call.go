package engine

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/approval"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/policy"
	"cutroom/internal/stage"
	"cutroom/internal/tool"
)

// call is one call in flight.
type call struct {
	Call
	e       *Engine
	id      string // of this very call
	parent  *call
	tool    *tool.Tool
	started time.Time

	in      any
	bounds  tool.Bounds
	inputs  []tool.Input
	files   []*os.File                       // one per input, nil for inline text
	ids     []stage.Identity                 // of the files, when they were hashed
	results map[cutroom.Digest]*stage.Result // recorded results that the input names, by invocation
	sources []stage.Source                   // the media the result comes from
	parents []cutroom.Digest                 // results it was made from
	name    stage.Name                       // where the result lies
	request []byte                           // canonical request
	lock    *stage.Lock
	build   *stage.Build
	facts   tool.Facts
	expect  []tool.Expectation
	outlets []outlet // paths that the caller wants files at
	lines   []string // command lines that ran, as callers see them
	kept    []stage.Keep
	made    []cutroom.ArtifactRef
	ran     []string // programs that ran
	out     any
	reply   *Reply

	decision        policy.Decision
	approval, grant string             // what was spent, or what allowed it
	input           cutroom.Digest     // of the request, once asked for
	ledgerKey       string             // of a call that must not be made twice
	op              *cutroom.Operation // the call in the ledger
	worked          bool               // the body was begun: something may have been done
	undone          bool               // … but the tool says that nothing was
	recorded        bool

	readers   tool.Readers // as they were when first looked at; nil: not looked at
	contacted []string     // origins that something was sent to

	byRecord bool // no approval allows it: only a record may answer

	asks  string         // why a person has to allow the call; "" when nobody has to
	pass  approval.Pass  // what allows it
	bound approval.Bound // what the pass is bound to

	scratch string                      // private folder of a dry run's or a probe's programs
	alike   map[string]*ffmpeg.Document // what was probed, by the shape of a still picture

	mu sync.Mutex // of what calls that this one makes side by side add to: lines, parents, contacted, progress
}

// close releases what the call holds. Whatever was not published is discarded.
func (k *call) close() {
	for _, f := range k.files {
		if f != nil {
			f.Close()
		}
	}
	if k.build != nil {
		k.build.Discard()
	}
	if k.lock != nil {
		k.lock.Release()
	}
	if k.scratch != "" {
		os.RemoveAll(k.scratch)
	}
}

// find is steps 1 and 2: the tool as this principal sees it, and the ceiling. A
// call made by a tool's own body is not looked up in the allow-list again: the
// spec's Calls are the list.
func (k *call) find() error {
	if k.parent == nil {
		t, err := k.e.offered(k.Principal, k.Tool, k.Agents != nil)
		if err != nil {
			return err
		}
		k.tool = t
		return k.within(t)
	}
	t, ok := k.e.Registry.Find(k.Tool)
	if !ok || !slices.Contains(k.e.Registry.Callees(k.parent.tool), t) {
		return cutroom.Errorf(cutroom.Internal, "%s may not call %s", k.parent.tool.Name, k.Tool)
	}
	k.tool = t
	if err := k.reaches(t.Kind); err != nil {
		return err
	}
	return k.e.ceiling(k.Principal, t)
}

// decode is step 3.
func (k *call) decode() error {
	in, err := k.tool.Decode(k.Input)
	if err != nil {
		return err
	}
	k.in = k.tool.Named(in)
	k.DryRun = k.DryRun || k.intent().DryRun
	if k.DryRun && k.tool.Actual {
		return cutroom.Errorf(cutroom.Invalid, "%s has no dry run: its steps run to be judged", k.tool.Name).WithHint("leave the dry run out")
	}
	if b, ok := in.(tool.Bounded); ok {
		k.bounds = b.Bounds()
	}
	l := k.e.Policy.Limits(k.Principal)
	most := k.e.Limits.Within(tool.Bounds{FileBytes: l.FileBytes, Duration: l.Length, Frames: int(l.Frames), TranscriptBytes: l.TranscriptBytes})
	k.bounds = k.bounds.Within(most)
	if lowered := tool.Lower(k.in, most); !reflect.DeepEqual(lowered, k.in) {
		raw, err := tool.Encode(lowered)
		if err != nil {
			return err
		}
		k.in, err = k.tool.Decode(raw) // what fitted the call's own limits may not fit these
		return err
	}
	return nil
}

// deadline bounds the whole call: the tool's own time, or what the caller or the
// operator said.
func (k *call) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	d := k.tool.Deadline(k.in)
	if k.Timeout > 0 {
		d = k.Timeout
	}
	if k.e.Timeout > 0 {
		d = min(d, k.e.Timeout)
	}
	if most := k.e.Policy.Limits(k.Principal).Timeout; most > 0 {
		d = min(d, time.Duration(most)*time.Microsecond)
	}
	return context.WithTimeout(ctx, d)
}

// failure is the error as the caller gets it. When the deadline or the caller
// stopped the work, that is the cause, whatever the program said in dying.
func (k *call) failure(ctx context.Context, err error) error {
	if cause := ctx.Err(); cause != nil {
		stopped := cutroom.AsError(cause)
		if errors.Is(cause, context.DeadlineExceeded) {
			stopped = cutroom.Errorf(cutroom.Timeout, "%s did not finish within %s", k.tool.Name, k.elapsed().Round(time.Millisecond)).
				WithHint("raise --timeout, or narrow the range with --start and --end")
		}
		err = stopped.WithCause(err)
	}
	if e := cutroom.AsError(err); e.Code == cutroom.Verification || e.Code == cutroom.ToolFailed {
		if changed := k.unchanged(); changed != nil {
			err = changed // what was read is not what was opened: that is the cause
		}
	}
	e := k.inspectable(cutroom.AsError(err))
	k.e.Log.Warn("call failed", "tool", k.tool.Name, "principal", k.Principal.Name, "code", e.Code, "message", e.Msg, "cause", e.Err)
	return e
}

// inspectable keeps a file that was not what was planned for a person to look at.
func (k *call) inspectable(e *cutroom.Error) *cutroom.Error {
	if e.Code != cutroom.Verification || k.build == nil {
		return e
	}
	if _, makes := k.tool.NewOutput().(tool.Maker); !makes {
		return e
	}
	folder, err := k.build.Refuse()
	if err != nil {
		k.e.Log.Warn("what was refused could not be kept", "cause", err)
		return e
	}
	k.build = nil
	kept := *e
	kept.Hint = "nothing was published; the refused file lies in " + folder + " until `cutroom prune`"
	if e.Hint != "" {
		kept.Hint = e.Hint + "; " + kept.Hint
	}
	return &kept
}

func (k *call) elapsed() time.Duration { return k.e.Now().Sub(k.started) }

func (k *call) progress(p cutroom.Progress) {
	if k.Progress == nil {
		return
	}
	if p.Tool == "" {
		p.Tool = k.tool.Name
	}
	p.Stage = k.e.Redact.Text(p.Stage)
	k.Progress(p)
}

// readAll reads an opened input from its beginning, at most max bytes.
func readAll(f *os.File, max int64) ([]byte, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, max+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, cutroom.Errorf(cutroom.Limit, "the file has more than %d bytes", max)
	}
	return b, nil
}
