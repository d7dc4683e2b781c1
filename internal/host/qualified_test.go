package host

import (
	"strings"
	"testing"
)

func TestEveryHostHasItsQualification(t *testing.T) {
	t.Parallel()
	list := Qualified()
	if len(list) != len(Hosts()) {
		t.Fatalf("%d hosts, %d qualifications", len(Hosts()), len(list))
	}
	for _, q := range list {
		if q.Qualified != (q.Version != "" && len(q.Failed) == 0) || q.Say() == "" {
			t.Errorf("%+v", q)
		}
	}
	for want, q := range map[string]Qualification{
		"never tried":     {},
		"no other":        {Version: "1", Qualified: true},
		"failed 1 check":  {Version: "1", Failed: []string{"a"}},
		"failed 2 checks": {Version: "1", Failed: []string{"a", "b"}},
	} {
		if !strings.Contains(q.Say(), want) {
			t.Errorf("%+v says %q", q, q.Say())
		}
	}
}
