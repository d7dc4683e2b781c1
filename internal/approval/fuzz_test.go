package approval

import (
	"encoding/json"
	"slices"
	"testing"
)

// FuzzBoundsOfAGrant: whatever an argument's bound and a request look like, only a
// request that holds the argument is within it, and one bound is not both kept and
// broken by the next larger number.
func FuzzBoundsOfAGrant(f *testing.F) {
	f.Add("crf>=18", `{"crf":20}`)
	f.Add("a.b=x", `{"a":{"b":"x"}}`)
	f.Add("n<=1e3", `{"n":1000.0}`)
	f.Add("=", `{"":1}`)
	f.Add("a.=x", `{"a":{"":"x"}}`)
	f.Add(".=", `{"":{"":""}}`)
	f.Add("title=a<=b", `{"title":"a<=b"}`)
	f.Fuzz(func(t *testing.T, text, input string) {
		w, err := parseWhere(text)
		got := holds(text, []byte(input))
		if got && (err != nil || !json.Valid([]byte(input))) {
			t.Errorf("%q holds %q", input, text)
		}
		if got && holds(text, []byte(`{}`)) {
			t.Errorf("nothing holds %q", text)
		}
		if err == nil && slices.Contains(w.name, "") {
			t.Errorf("%q names nothing", text)
		}
	})
}
