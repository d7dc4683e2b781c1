package cutroom

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// TestCodes walks the table: every code once, with answers that the doors can give.
func TestCodes(t *testing.T) {
	t.Parallel()
	exits := map[int]bool{1: true, 2: true, 4: true, 124: true, 127: true, 130: true}
	groups := map[string]bool{"input": true, "ffmpeg": true, "missing_tool": true, "denied": true, "canceled": true, "internal": true}
	seen := map[Code]bool{}
	for _, f := range Codes {
		if seen[f.Code] || f.Meaning == "" || !exits[f.Exit] || !groups[f.Group] || f.HTTP < 400 || f.HTTP > 599 {
			t.Errorf("the row of %s is wrong: %+v", f.Code, f)
		}
		seen[f.Code] = true
		e := Errorf(f.Code, "what happened").WithHint("do this")
		if d := e.Failure(); d.Status != "failed" || d.Error.Code != f.Code || d.Error.Kind != f.Group || d.Error.Message != "what happened" || d.Error.Hint != "do this" {
			t.Errorf("the failure of %s is %+v", f.Code, d)
		}
	}
	if len(Codes) != 16 {
		t.Errorf("%d codes", len(Codes))
	}
	if Code("made up").Facts().Code != Internal {
		t.Error("an unknown code is not internal")
	}
}

func TestAsErrorKeepsTheInsideInside(t *testing.T) {
	t.Parallel()
	secret := errors.New("/home/someone/secret: token=abc")
	e := AsError(fmt.Errorf("stage: %w", secret))
	if e.Code != Internal || strings.Contains(e.Error(), "secret") || !errors.Is(e, secret) {
		t.Errorf("%v", e)
	}
	if AsError(fmt.Errorf("x: %w", context.Canceled)).Code != Canceled || AsError(context.DeadlineExceeded).Code != Timeout || AsError(nil) != nil {
		t.Error("contexts are not recognised")
	}
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		e := AsError(&fs.PathError{Op: "write", Path: "/home/someone/key", Err: full})
		if e.Code != Unavailable || strings.Contains(e.Error(), "someone") || !strings.Contains(e.Msg, "full") {
			t.Errorf("%v", e)
		}
	}
	inner := Errorf(Limit, "too long").WithCause(secret)
	if got := AsError(fmt.Errorf("wrapped: %w", inner)); got != inner || strings.Contains(got.Error(), "secret") {
		t.Errorf("%v", got)
	}
}
