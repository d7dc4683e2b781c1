package cli

import (
	"testing"

	"cutroom"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

func TestHintsAreInTheWordsOfTheCommand(t *testing.T) {
	t.Parallel()
	r, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	cut, ok := r.Find("edit.cut")
	if !ok {
		t.Fatal("no edit.cut")
	}
	b := bind(cut)
	for _, tt := range []struct{ msg, hint, wantMsg, wantHint string }{
		{
			"edit.cut: nothing (give start, end, duration or segments)", "call again; `cutroom tool show` with the tool's id lists what it takes",
			"edit.cut: nothing (give --start, --end, --duration or --segments)", "call again; `cutroom cut --help` lists what it takes",
		},
		{"the end 3 s lies behind the end", "leave the end out for the end of the recording", "the end 3 s lies behind the end", "leave the end out for the end of the recording"},
		{"edit.cut: quality: 60 is more than 51", "cut without snap, or lower min_confidence", "edit.cut: --quality: 60 is more than 51", "cut without snap, or lower --min-confidence"},
	} {
		e := cutroom.AsError(b.inWords(cutroom.Errorf(cutroom.Invalid, "%s", tt.msg).WithHint("%s", tt.hint), "cutroom cut"))
		if e.Msg != tt.wantMsg || e.Hint != tt.wantHint {
			t.Errorf("%q\n%q", e.Msg, e.Hint)
		}
	}
	batch, ok := r.Find("edit.batch")
	if !ok {
		t.Fatal("no edit.batch")
	}
	skip := cutroom.Errorf(cutroom.Invalid, "bad").WithHint("pass on_bad skip to leave out what cannot be read, or give out")
	if got, want := cutroom.AsError(bind(batch).inWords(skip, "cutroom batch")).Hint, "pass --on-bad skip to leave out what cannot be read, or give --out"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	denied := cutroom.Errorf(cutroom.Denied, "add snap_tolerance")
	if got := b.inWords(denied, "cutroom cut"); cutroom.AsError(got).Msg != denied.Msg || b.inWords(nil, "x") != nil {
		t.Errorf("%v", got)
	}
}
