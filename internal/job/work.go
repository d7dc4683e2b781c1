package job

import (
	"context"
	"time"

	"cutroom"
	"cutroom/internal/store"
)

// Tally counts the jobs that a process worked, by how they ended.
type Tally struct {
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Canceled   int `json:"canceled"`
	HandedBack int `json:"handed_back"` // stopped here, waiting for another worker
}

// Tally says what this process has done so far.
func (q *Queue) Tally() Tally {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tally
}

// count adds the end of a job that this process still held.
func (q *Queue) count(s cutroom.JobState) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch s {
	case cutroom.JobCompleted:
		q.tally.Completed++
	case cutroom.JobFailed:
		q.tally.Failed++
	case cutroom.JobCanceled:
		q.tally.Canceled++
	case cutroom.JobQueued:
		q.tally.HandedBack++
	}
}

// lookEvery is how often Work looks whether it is through.
const lookEvery = 200 * time.Millisecond

// Work works queued jobs until none of the workspace waits or runs, those of other
// processes included (without those it leaves to others): it takes them over when their worker dies. It returns ctx's
// error when that ends first; [Queue.Stop] hands back what runs then.
func (q *Queue) Work(ctx context.Context) error {
	if err := q.Start(ctx); err != nil {
		return err
	}
	for {
		var open int
		err := q.db.QueryRowContext(ctx, `select count(*) from job where space = $1 and state in ($2, $3) and principal_role <> $4`,
			q.Space, cutroom.JobQueued, cutroom.JobRunning, q.passed()).Scan(&open)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || open == 0 {
			return store.Fault(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookEvery):
		}
	}
}
