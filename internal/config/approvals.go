package config

import "cutroom"

// Approvals says how a person allows what needs a person.
type Approvals struct {
	LifeMinutes      int64    `yaml:"life_minutes" doc:"How long an approval lives before it is used, minutes; 15 at most for a call that reaches the network. Default 60, at most 1440."`
	ElicitationHosts []string `yaml:"elicitation_hosts" doc:"Hosts, by the name that they give over MCP, whose dialog may stand for the operator while the approval key has no passphrase; never for a call that reaches the network. Default none. In the user's own file only."`
}

// longestLife is of an approval, in minutes.
const longestLife = 24 * 60

func (a Approvals) check() error {
	if a.LifeMinutes < 0 || a.LifeMinutes > longestLife {
		return cutroom.Errorf(cutroom.Invalid, "approvals.life_minutes is %d", a.LifeMinutes).WithHint("use 1 to %d", longestLife)
	}
	return nil
}

// narrow takes the shorter life.
func (a Approvals) narrow(w Approvals) Approvals {
	if w.LifeMinutes > 0 && (a.LifeMinutes == 0 || w.LifeMinutes < a.LifeMinutes) {
		a.LifeMinutes = w.LifeMinutes
	}
	return a
}
