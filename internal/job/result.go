package job

import (
	"context"

	"cutroom"
	"cutroom/internal/engine"
	"cutroom/internal/store"
)

// Result is the answer of a completed job: its recorded result, verified, or what was
// stored of one that is not recorded.
func (q *Queue) Result(ctx context.Context, who cutroom.Principal, id string) (*engine.Reply, error) {
	j, err := q.For(who).Get(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case j.State == cutroom.JobFailed && j.Error != nil:
		return nil, &cutroom.Error{Code: j.Error.Code, Msg: j.Error.Message, Hint: j.Error.Hint, Approval: j.Error.ApprovalID}
	case j.State != cutroom.JobCompleted:
		return nil, cutroom.Errorf(cutroom.Precondition, "the job %s is %s", id, j.State).WithHint("wait for it with job_wait")
	case j.Run != "":
		return q.Engine.Answer(ctx, who, string(j.Run))
	}
	var output string
	if err := q.db.QueryRowContext(ctx, `select output from job where id = $1 and space = $2`, id, q.Space).Scan(&output); err != nil {
		return nil, store.Fault(err)
	}
	return q.Engine.Decode(j.Tool, []byte(output))
}
