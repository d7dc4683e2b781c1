package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCheckFinds: rules of which the second is, or is not, left anything by the first.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	v := func(s string) *Value { x := Value(s); return &x }
	n := func(i int64) *int64 { return &i }
	yes, no := true, false
	rows := map[string]struct {
		first, second Rule
		want          string // kind of the finding about the second
	}{
		"one and each": { // the first needs each input in ./out, the second one
			Rule{Effect: Allow, Inputs: []string{"out"}}, Rule{Effect: Ask, Inputs: []string{"out"}}, "",
		},
		"each and one":     {Rule{Effect: Ask, Inputs: []string{"out"}}, Rule{Effect: Allow, Inputs: []string{"out/deep"}}, "unreachable"},
		"equal":            {Rule{Effect: Ask, Inputs: []string{"out"}}, Rule{Effect: Allow, Inputs: []string{"out"}}, "unreachable"},
		"otherwise":        {Rule{Effect: Ask, Tools: []string{"edit.cut"}}, Rule{Effect: Allow, Tools: []string{"edit.cut"}}, "contradiction"},
		"wider":            {Rule{Effect: Ask, Inputs: []string{"out/deep"}}, Rule{Effect: Allow, Inputs: []string{"out"}}, ""},
		"outside of more":  {Rule{Effect: Ask, OutputsOutside: []string{"out/deep"}}, Rule{Effect: Allow, OutputsOutside: []string{"out"}}, "unreachable"},
		"outside of less":  {Rule{Effect: Ask, OutputsOutside: []string{"out"}}, Rule{Effect: Allow, OutputsOutside: []string{"out/deep"}}, ""},
		"elsewhere":        {Rule{Effect: Ask, OutputsOutside: []string{"out"}}, Rule{Effect: Allow, Outputs: []string{"raw"}}, "unreachable"},
		"later denial":     {Rule{Effect: Allow, Tools: []string{"edit.cut"}}, Rule{Effect: Deny, Tools: []string{"edit.*"}}, ""},
		"denied twice":     {Rule{Effect: Deny, Tools: []string{"edit.*"}}, Rule{Effect: Deny, Tools: []string{"edit.cut"}}, "unreachable"},
		"denied":           {Rule{Effect: Deny, Tools: []string{"edit.*"}}, Rule{Effect: Allow, Tools: []string{"edit.cut"}}, "contradiction"},
		"greater":          {Rule{Effect: Ask, Where: []Where{{At: "/a", AtLeast: v("3")}}}, Rule{Effect: Allow, Where: []Where{{At: "/a", AtLeast: v("3.50")}}}, "unreachable"},
		"less":             {Rule{Effect: Ask, Where: []Where{{At: "/a", AtLeast: v("3")}}}, Rule{Effect: Allow, Where: []Where{{At: "/a", AtLeast: v("2")}}}, ""},
		"other member":     {Rule{Effect: Ask, Where: []Where{{At: "/a", AtLeast: v("3")}}}, Rule{Effect: Allow, Where: []Where{{At: "/b", AtLeast: v("4")}}}, ""},
		"one of":           {Rule{Effect: Ask, Where: []Where{{At: "/a", In: []Value{"1", "2"}}}}, Rule{Effect: Allow, Where: []Where{{At: "/a", Equals: v("2")}}}, "unreachable"},
		"not the one":      {Rule{Effect: Ask, Where: []Where{{At: "/a", Equals: v("1"), Not: true}}}, Rule{Effect: Allow, Where: []Where{{At: "/a", Equals: v("2")}}}, "unreachable"},
		"there at all":     {Rule{Effect: Ask, Where: []Where{{At: "/a", Present: &yes}}}, Rule{Effect: Allow, Where: []Where{{At: "/a", Glob: "x*"}}}, "unreachable"},
		"counted apart":    {Rule{Effect: Ask, Within: Amounts{CallsPerHour: n(5)}}, Rule{Effect: Allow, Within: Amounts{CallsPerHour: n(2)}}, ""},
		"smaller":          {Rule{Effect: Ask, Within: Amounts{Bytes: n(5)}}, Rule{Effect: Allow, Within: Amounts{Bytes: n(2)}}, "unreachable"},
		"larger":           {Rule{Effect: Ask, Within: Amounts{Bytes: n(5)}}, Rule{Effect: Allow, Within: Amounts{Bytes: n(9)}}, ""},
		"no two values":    {Rule{Effect: Ask, Tools: []string{"edit.cut"}}, Rule{Effect: Deny, Where: []Where{{At: "/a", Equals: v("1")}, {At: "/a", Equals: v("2")}}}, "impossible"},
		"there and absent": {Rule{Effect: Ask, Tools: []string{"edit.cut"}}, Rule{Effect: Deny, Where: []Where{{At: "/a", Equals: v("1")}, {At: "/a", Present: &no}}}, "impossible"},
		"two of a list":    {Rule{Effect: Ask, Tools: []string{"edit.cut"}}, Rule{Effect: Deny, Where: []Where{{At: "/a/*", Equals: v("1")}, {At: "/a/*", Equals: v("2")}}}, ""},
		"no such tool":     {Rule{Effect: Ask, Tools: []string{"edit.cut"}}, Rule{Effect: Deny, Tools: []string{"video.probe"}, Overwrite: &yes}, "impossible"},
	}
	for name, r := range rows {
		p := Shipped()
		p.Root = "/w"
		r.first.Name, r.first.Line, r.second.Name, r.second.Line = "first", 1, "second", 2
		p.Rules = append([]Rule{r.first, r.second}, p.Rules...)
		got := ""
		for _, f := range p.Check(Known{worldTools}) {
			if f.Rule == "second" && f.Fault {
				got += f.Kind
			}
		}
		if d := cmp.Diff(r.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
