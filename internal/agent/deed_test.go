package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cutroom"
	"cutroom/internal/tool"
)

type deedInput struct {
	Number int64 `json:"number" min:"1" doc:"Which deed."`
	Pause  int64 `json:"pause,omitempty" min:"0" max:"60000" doc:"Milliseconds that it takes."`
}

type deedOutput struct {
	cutroom.Unrecorded
	Done int64 `json:"done" doc:"Which deed was done."`
}

// addDeed adds a tool that must not be called twice: a witness, of whom the product knows
// nothing, counts.
func addDeed(f *tool.Family, dir string) {
	tool.Add(f, tool.Spec[deedInput, deedOutput]{
		Name: "agent.deed_test", Summary: "Do", Description: "Does a deed.", Kind: cutroom.Execute, Exact: tool.EnvironmentDependent, Revision: 1,
		Replay: tool.ReplayNever, Live: true, Timeout: time.Minute, Examples: []deedInput{{Number: 1}},
		Key: func(in deedInput) string { return fmt.Sprintf("deed-%d", in.Number) },
		Run: func(ctx context.Context, _ tool.Env, in deedInput) (deedOutput, error) {
			err := witness(dir, "deeds", fmt.Sprint(in.Number))
			if err == nil && in.Pause > 0 {
				select {
				case <-time.After(time.Duration(in.Pause) * time.Millisecond):
				case <-ctx.Done():
					err = ctx.Err()
				}
			}
			return deedOutput{Done: in.Number}, err
		},
	})
}

// witness writes a line.
func witness(dir, name, line string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Sync(), f.Close())
}
