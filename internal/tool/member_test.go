package tool

import "testing"

func TestMemberOfAnInput(t *testing.T) {
	t.Parallel()
	f := NewFamily("tool", "Tools", "1.0.0")
	tl := Add(f, Spec[request, answer]{Name: "tool.tool_test"})
	for pointer, want := range map[string]string{
		"": "", "/": "", "source": "", "/nowhere": "", "/source/kind": "text", "/source/value": "text", "/source": "object", "/width": "number",
		"/at": "list", "/at/*": "time", "/at/0": "time", "/at/x": "", "/at/*/more": "", "/width/more": "",
	} {
		if got := tl.Member(pointer); got != want {
			t.Errorf("%q: %q, want %q", pointer, got, want)
		}
	}
}
