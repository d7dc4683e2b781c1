package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"cutroom"
	"cutroom/internal/engine"
)

// Why a job's work is stopped.
var (
	errCanceled   = errors.New("the job was canceled")
	errHandedBack = errors.New("the worker stops")
	errLost       = errors.New("another worker has the job")
)

// task is a call that this process is at.
type task struct {
	call   engine.Call
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the call ended and, for a job, its end is stored

	started time.Time

	reply *engine.Reply // once done
	err   error

	mu       sync.Mutex
	job      string // id; "" while it is a call that somebody waits for
	attempt  int64
	progress cutroom.Progress
	told     bool // the latest progress is stored
	forward  func(cutroom.Progress)
	ended    bool // the call ended; what it answered is set
}

// newTask makes a task whose work does not end with its caller's context.
func newTask(ctx context.Context, c engine.Call) *task {
	t := &task{call: c, done: make(chan struct{}), forward: c.Progress, told: true}
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	t.call.Progress = t.note
	return t
}

// note keeps the latest progress and hands it to whoever waits.
func (t *task) note(p cutroom.Progress) {
	t.mu.Lock()
	t.progress, t.told = p, false
	forward := t.forward
	t.mu.Unlock()
	if forward != nil {
		forward(p)
	}
}

// Call starts a call now. Done within patience (0: however long it takes) it is
// answered; after that it goes on as the job that is returned, and ctx does not
// matter to it any more. Until then the end of ctx stops it. When the job cannot be
// stored the call is waited for: nothing is lost by it.
func (q *Queue) Call(ctx context.Context, c engine.Call, patience time.Duration) (*engine.Reply, *cutroom.Job, error) {
	t := newTask(ctx, c)
	t.started = q.Now()
	go func() {
		reply, err := q.invoke(t.ctx, t.call)
		q.end(t, reply, err)
	}()
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	for {
		select {
		case <-t.done:
			return t.reply, nil, t.err
		case <-ctx.Done():
			t.cancel(ctx.Err())
			<-t.done
			return t.reply, nil, t.err
		case <-late:
			late = nil
			job, err := q.adopt(ctx, t)
			switch {
			case err != nil:
				q.Log.Warn("a long call could not become a job", "tool", c.Tool, "cause", err)
			case job != nil:
				return nil, job, nil
			}
		}
	}
}

// adopt makes a job of a call in flight; nil when it ended meanwhile.
func (q *Queue) adopt(ctx context.Context, t *task) (*cutroom.Job, error) {
	// Hosts give up some seconds after our patience: what takes longer is no help.
	ctx, cancel := context.WithTimeout(ctx, adoptTime)
	defer cancel()
	if err := q.open(ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil, nil
	}
	if err := q.alive(ctx); err != nil { // a job of a worker without a heartbeat is a dead one's
		return nil, err
	}
	id := newID()
	// The row is there before the task is known as a job: its end finds it.
	if err := q.insert(ctx, id, t.call, cutroom.JobRunning, t.started); err != nil {
		q.drop(ctx, id)
		return nil, err
	}
	t.job, t.attempt, t.forward = id, 1, nil
	q.hold(t)
	job, err := q.read(context.WithoutCancel(ctx), id)
	if err != nil {
		return nil, err
	}
	return &job, nil
}

// drop removes a job that may have been stored although its insert failed: the call is
// still somebody's who waits.
func (q *Queue) drop(ctx context.Context, id string) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	if _, err := q.db.ExecContext(last, `delete from job where id = $1`, id); err != nil {
		q.Log.Warn("a job that was not to be may be made", "job", id, "cause", err)
	}
}

const adoptTime = 8 * time.Second

// run makes the call of a claimed job. ctx is the dispatcher's: its end hands the job
// back.
func (q *Queue) run(ctx context.Context, t *task) {
	stop := context.AfterFunc(ctx, func() { t.cancel(errHandedBack) })
	defer stop()
	limit, cancel := context.WithTimeout(t.ctx, longest)
	defer cancel()
	reply, err := q.invoke(limit, t.call)
	q.end(t, reply, err)
}

// invoke makes the call. A fault in its tool ends the call alone, not the others that
// this process is at.
func (q *Queue) invoke(ctx context.Context, c engine.Call) (reply *engine.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			q.Log.Error("panic", "tool", c.Tool, "value", p, "stack", string(debug.Stack()))
			reply, err = nil, cutroom.AsError(fmt.Errorf("panic in %s: %v", c.Tool, p))
		}
	}()
	return q.Engine.Invoke(ctx, c)
}

// end stores what became of a job, or answers whoever waits for a call.
func (q *Queue) end(t *task, reply *engine.Reply, err error) {
	t.mu.Lock()
	t.reply, t.err, t.ended = reply, err, true
	job := t.job
	t.mu.Unlock()
	if job != "" {
		q.settle(t)
		q.release(t)
	}
	t.cancel(nil)
	close(t.done)
}

// settle stores the end of a job. It is tried again for a while: the database may be
// busy, or its disk full.
func (q *Queue) settle(t *task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), settleTime)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		err := q.finish(ctx, t)
		if err == nil {
			return
		}
		q.Log.Error("the end of a job could not be stored", "job", t.job, "cause", err)
		select {
		case <-ctx.Done():
			return // the job is found by its dead worker, and made again
		case <-time.After(wait):
		}
	}
}

const settleTime = 20 * time.Second

// outcome is what the end of a task means for its job.
type outcome struct {
	state                cutroom.JobState
	run, output, failure string
}

func (t *task) outcome() outcome {
	cause := context.Cause(t.ctx)
	switch {
	case t.err == nil && !t.reply.Transient:
		return outcome{state: cutroom.JobCompleted, run: string(t.reply.Run)}
	case t.err == nil && len(t.reply.JSON) > maxOutput:
		return outcome{state: cutroom.JobFailed, failure: failureText(cutroom.Errorf(cutroom.Limit,
			"the answer has %d bytes and is not one that is recorded; a job keeps at most %d", len(t.reply.JSON), maxOutput).WithHint("ask for less at once"))}
	case t.err == nil:
		return outcome{state: cutroom.JobCompleted, output: string(t.reply.JSON)}
	case errors.Is(cause, errHandedBack):
		return outcome{state: cutroom.JobQueued}
	case errors.Is(cause, errCanceled):
		return outcome{state: cutroom.JobCanceled}
	}
	return outcome{state: cutroom.JobFailed, failure: failureText(t.err)}
}

// maxOutput bounds the answer that a job itself keeps. Recorded ones lie in the stage.
const maxOutput = 8 << 20

func failureText(err error) string {
	b, err := json.Marshal(cutroom.AsError(err).Failure().Error)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// hold and release keep the set of jobs that this process is at.
func (q *Queue) hold(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tasks[t.job] = t
}

func (q *Queue) release(t *task) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.tasks, t.job)
	if len(q.tasks) == 0 && q.ended != nil {
		close(q.ended)
		q.ended = nil
	}
}

// held is the jobs that this process is at.
func (q *Queue) held() []*task {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []*task
	for _, t := range q.tasks {
		list = append(list, t)
	}
	return list
}
