package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cutroom"
	"cutroom/internal/policy"
	"cutroom/internal/testenv"
	"cutroom/internal/tool"
	"cutroom/internal/tools"
)

// TestExamplesOfThePolicyHold: the files that docs/authority.md shows are right, nothing
// in them is unreachable or unknown, and they do what the text says.
func TestExamplesOfThePolicyHold(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(testenv.Root(t), "docs", "authority.md"))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tool.NewRegistry(tools.Families()...)
	if err != nil {
		t.Fatal(err)
	}
	var examples []policy.Policy
	root := ""
	for _, rest := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(rest, "```")
		if !strings.HasPrefix(text, "policy:") && !strings.HasPrefix(text, "principals:") {
			continue
		}
		p, dir := settled(t, text, "")
		for _, f := range p.Check(known(registry)) {
			t.Errorf("%s\n%+v", text, f)
		}
		examples, root = append(examples, p), dir
	}
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	cut, host := examples[0], examples[1]
	cut.Root = root
	hour := 2 * 3600 * cutroom.Second
	ask := func(id, output string, overwrite bool, length *cutroom.Micros) policy.Effect {
		return cut.Decide(policy.Request{
			Principal: cutroom.Agent, Tool: id, Kind: cutroom.Execute, Writes: true, Overwrite: overwrite,
			Outputs: []string{filepath.Join(root, output)}, Inputs: []string{filepath.Join(root, "talk.mp4")}, Length: length,
		}).Effect
	}
	short := cutroom.Second
	for _, r := range []struct {
		id, output string
		overwrite  bool
		length     *cutroom.Micros
		want       policy.Effect
	}{
		{"edit.export", "out/a.mp4", false, &short, policy.Allow},
		{"edit.export", "a.mp4", false, &short, policy.Deny},
		{"edit.cut", "a.mp4", false, &short, policy.Allow},
		{"edit.cut", "a.mp4", false, &hour, policy.Ask},
		{"edit.cut", "a.mp4", false, nil, policy.Ask},
		{"edit.cut", "out/takes/a.mp4", true, &short, policy.Allow},
		{"edit.cut", "out/a.mp4", true, &short, policy.Ask},
		{"edit.fit", "out/takes/a.mp4", true, &short, policy.Ask},
	} {
		if got := ask(r.id, r.output, r.overwrite, r.length); got != r.want {
			t.Errorf("%+v: %s", r, got)
		}
	}
	reader, ok := host.Named("reader")
	if !ok || host.Ceiling(reader, cutroom.Execute).Effect != policy.Deny || host.Ceiling(reader, cutroom.Read).Effect != policy.Allow || host.Limits(reader).FileBytes != 4_000_000_000 {
		t.Errorf("the reader: %+v, %v", reader, ok)
	}
}
