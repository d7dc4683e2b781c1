// Package job is the durable queue: a job is a stored call of the engine that goes
// on after its caller stopped waiting.
//
// It promises that a job ends exactly once, whatever becomes of the processes that
// work on it; that a call becomes a job without starting anew; and that a job of
// another principal does not exist for whoever asks. The table job is the truth: who
// works at a job holds a lease in it, a lease ends with its worker's heartbeat, and
// every later word of a worker that lost its lease is refused. River hands queued
// jobs to workers and knows no more than their ids.
//
// It must never know a door, nor a tool by more than its name.
package job

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/store"
)

// Engine makes the calls and reads back their answers.
type Engine interface {
	Invoke(ctx context.Context, c engine.Call) (*engine.Reply, error)
	// Answer is the recorded result of a run, verified, as its call was answered.
	Answer(ctx context.Context, who cutroom.Principal, run string) (*engine.Reply, error)
	// Decode reads back an answer that was not recorded.
	Decode(tool string, output []byte) (*engine.Reply, error)
}

// Opener opens the database, with the queue's [Migration] among its own, or hands out
// the handle that is open. It is not the queue's to close.
type Opener func(context.Context) (*sql.DB, error)

// Options are the parts a queue works with.
type Options struct {
	Engine  Engine
	Open    Opener      // the database: the user's or a server's, never in a workspace
	Exists  func() bool // whether there may be a database at all, without opening it
	Space   string      // whose jobs these are; see [Space]
	Workers int         // jobs taken from the queue at once; 0 is 2
	Serve   bool        // once open, take queued jobs whenever there are some
	Theirs  bool        // leave jobs of operators to others
	Key     []byte      // of the installation; what a row says is believed under its seal alone
	// Note writes a row of the audit in the transaction that refuses a job; nil: none.
	Note func(context.Context, *sql.Tx, cutroom.AuditEvent) error
	Log  *slog.Logger     // nil drops it
	Now  func() time.Time // nil is time.Now
}

// Space names the jobs of one workspace with one folder of results. Processes of
// another never see them.
func Space(workspace, stage string) string {
	return cutroom.DigestOf([]byte(workspace + "\x00" + stage)).Short()
}

// Queue is one process's part in the queue. Nothing is opened before it is needed.
type Queue struct {
	Options
	id    string // of this process as a worker
	pace  pace
	watch watch // of other workers; the heartbeat's alone

	opening sync.Mutex // held while the database is opened or closed
	db      *sql.DB    // set once
	river   *river.Client[*sql.Tx]
	taking  sync.Mutex         // held while the client is started
	stop    context.CancelFunc // of the heartbeat
	beating sync.WaitGroup

	mu      sync.Mutex
	started bool             // the client takes jobs
	closed  bool             // nothing is taken any more
	tasks   map[string]*task // jobs this process is at, by id
	ended   chan struct{}    // closed when there is none; nil when nobody asks
	tally   Tally
}

// Limits of a job's life.
const (
	keepFor  = 7 * 24 * time.Hour
	longest  = 24 * time.Hour // of a job, whatever its tool says
	attempts = 5
)

// pace is how fast a queue lives.
type pace struct {
	beat time.Duration // between two beats of a worker's heart, and two looks at others'
	dead time.Duration // a worker that missed beats for so long is dead
}

// New returns a queue that has done nothing yet.
func New(o Options) *Queue {
	if o.Workers == 0 {
		o.Workers = 2
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Queue{Options: o, id: newID(), pace: pace{time.Second, 4 * time.Second}, watch: watch{seen: map[string]sighting{}}, tasks: map[string]*task{}}
}

// newID is unguessable and can stand in an address.
func newID() string { return strings.ToLower(rand.Text()[:20]) }

// Stored says whether there may be jobs at all, without opening anything.
func (q *Queue) Stored() bool { return q.Exists() }

// open opens the database once, and makes the queue's client.
func (q *Queue) open(ctx context.Context) error {
	q.opening.Lock()
	defer q.opening.Unlock()
	if q.isClosed() {
		return cutroom.Errorf(cutroom.Unavailable, "the queue of jobs is closed").WithHint("start cutroom again")
	}
	if q.db != nil {
		return nil
	}
	db, err := q.Open(ctx)
	if err != nil {
		return err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{q: q})
	client, err := river.NewClient(driverOf(db), &river.Config{
		ID: q.id, Workers: workers, Logger: slog.New(slog.DiscardHandler), JobTimeout: longest + time.Hour,
		RescueStuckJobsAfter: longest + 2*time.Hour, // dead workers are found by their heartbeat, long before
		MaxAttempts:          maxTickets,
		Queues:               q.lanes(),
		FetchPollInterval:    time.Second, FetchCooldown: 10 * time.Millisecond,
		CompletedJobRetentionPeriod: keepFor, CancelledJobRetentionPeriod: keepFor, DiscardedJobRetentionPeriod: keepFor,
	})
	if err != nil {
		return err
	}
	beat, stop := context.WithCancel(context.WithoutCancel(ctx))
	q.db, q.river, q.stop = db, client, stop
	q.beating.Go(func() { q.live(beat) })
	return nil
}

// driverOf is River's way to the kind of database that db is.
func driverOf(db *sql.DB) riverdriver.Driver[*sql.Tx] {
	if store.DialectOf(db) == store.Postgres {
		return riverdatabasesql.New(db)
	}
	return riversqlite.New(db)
}

// riverTables names River's migrations of the version in go.mod.
const riverTables = "river v0.51.2"

// Migration makes the queue's tables. Whoever opens the database names it, so that all
// agree on what is in it.
func Migration() store.Migration { return store.Migration{Name: riverTables, Run: migrateRiver} }

func migrateRiver(ctx context.Context, db *sql.DB) error {
	m, err := rivermigrate.New(driverOf(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// maxTickets is how often River tries to hand out a job while the database refuses.
const maxTickets = 25

// lane is River's queue of the space for jobs of a role: who leaves those of operators
// to others does not take their tickets away either.
func (q *Queue) lane(role cutroom.Role) string {
	if role == cutroom.RoleOperator {
		return "space-" + q.Space + "-operator"
	}
	return "space-" + q.Space
}

// lanes are those that this process takes tickets of.
func (q *Queue) lanes() map[string]river.QueueConfig {
	m := map[string]river.QueueConfig{q.lane(cutroom.RoleAgent): {MaxWorkers: q.Workers}}
	if !q.Theirs {
		m[q.lane(cutroom.RoleOperator)] = river.QueueConfig{MaxWorkers: q.Workers}
	}
	return m
}

// passed is the role whose jobs this process leaves to others, "" for none.
func (q *Queue) passed() cutroom.Role {
	if q.Theirs {
		return cutroom.RoleOperator
	}
	return ""
}

// Start begins to take queued jobs, those of dead workers among them.
func (q *Queue) Start(ctx context.Context) error {
	if err := q.open(ctx); err != nil {
		return err
	}
	return q.take(ctx)
}

// Resume opens the queue when there may be jobs, so that one which an earlier process
// left is taken up.
func (q *Queue) Resume(ctx context.Context) error {
	if !q.Stored() {
		return nil
	}
	if err := q.open(ctx); err != nil {
		return err
	}
	return q.look(ctx)
}

// take starts the client of an open queue, once.
func (q *Queue) take(ctx context.Context) error {
	q.taking.Lock()
	defer q.taking.Unlock()
	q.mu.Lock()
	done := q.started || q.closed
	q.mu.Unlock()
	if done {
		return nil
	}
	if err := q.alive(ctx); err != nil {
		return store.Fault(err)
	}
	if err := q.river.Start(context.WithoutCancel(ctx)); err != nil {
		return store.Fault(err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.started = true
	return nil
}

func (q *Queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Drain waits until this process is at no job.
func (q *Queue) Drain(ctx context.Context) {
	q.mu.Lock()
	if len(q.tasks) == 0 {
		q.mu.Unlock()
		return
	}
	if q.ended == nil {
		q.ended = make(chan struct{})
	}
	ended := q.ended
	q.mu.Unlock()
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// Stop ends the work of this process: jobs it is at are stopped and handed back, so
// that the next process of the workspace takes them. What does not stop before ctx
// ends is handed back all the same: its late end is refused. A stopped queue answers
// nothing any more.
func (q *Queue) Stop(ctx context.Context) error {
	q.opening.Lock()
	defer q.opening.Unlock()
	q.mu.Lock()
	closed := q.closed
	q.closed = true
	q.mu.Unlock()
	if closed || q.db == nil {
		return nil
	}
	for _, t := range q.held() {
		t.cancel(errHandedBack)
	}
	var errs []error
	if q.taken() {
		errs = append(errs, q.river.StopAndCancel(ctx)) // nothing is fetched any more; Work returns when its job was handed back
	}
	for _, t := range q.held() { // calls that became jobs meanwhile
		t.cancel(errHandedBack)
	}
	q.Drain(ctx)
	q.stop()
	q.beating.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	errs = append(errs, q.leave(last))
	return errors.Join(errs...)
}

// taken says whether the client was started; once the queue is closed, for good.
func (q *Queue) taken() bool {
	q.taking.Lock()
	defer q.taking.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.started
}

// lastTime bounds the last words to the database.
const lastTime = 3 * time.Second

// ticket says that a job of the space waits: which one, and no more.
type ticket struct {
	ID string `json:"id"`
}

// Kind is River's name for it; every worker of every version knows it.
func (ticket) Kind() string { return "call" }

// worker takes tickets.
type worker struct {
	river.WorkerDefaults[ticket]
	q *Queue
}

// Work claims the job of a ticket and makes its call. A ticket whose job is taken,
// ended or gone already is done with.
func (w *worker) Work(ctx context.Context, j *river.Job[ticket]) error {
	t, err := w.q.claim(ctx, j.Args.ID)
	if err != nil || t == nil {
		return err
	}
	w.q.run(ctx, t)
	return nil
}
