package policy

import (
	"slices"
)

// Counters are the keys of what has to be counted before q can be decided: calls by the
// hour, of each rule that bounds them and that q falls under otherwise. [Request.Used]
// answers them. A call that is let through counts once under each key.
func (p Policy) Counters(q Request) []string {
	v := view(q, p.Root)
	var keys []string
	for _, s := range p.passes(q.Principal) {
		for i := range s.rules {
			r := s.rules[i]
			if r.Within.CallsPerHour == nil && r.Over.CallsPerHour == nil {
				continue
			}
			key := counterKey(&r, s.as)
			r.Within.CallsPerHour, r.Over = nil, Amounts{}
			if r.holds(v, s.as) != No && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// AsksLength says whether a rule that q may fall under bounds how long its inputs last.
func (p Policy) AsksLength(q Request) bool {
	q.Length = nil
	v := view(q, p.Root)
	for _, s := range p.passes(q.Principal) {
		for i := range s.rules {
			r := &s.rules[i]
			if (r.Within.Length != nil || r.Over.Length != nil) && r.holds(v, s.as) != No {
				return true
			}
		}
	}
	return false
}
