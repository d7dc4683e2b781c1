package config

// Approvals says how a person allows what needs a person.
type Approvals struct {
	LifeMinutes      int64    `yaml:"life_minutes" default:"60" doc:"How long an approval lives before it is used, minutes, at most 1440; 15 at most for a call that reaches the network."`
	ElicitationHosts []string `yaml:"elicitation_hosts" doc:"Hosts, by the name that they give over MCP, whose dialog may stand for the operator while the approval key has no passphrase; never for a call that reaches the network. Default none. In the user's own file only."`
}

// longestLife is of an approval, in minutes.
const longestLife = 24 * 60

// narrow takes the shorter life.
func (a Approvals) narrow(w Approvals) Approvals {
	if w.LifeMinutes > 0 && (a.LifeMinutes == 0 || w.LifeMinutes < a.LifeMinutes) {
		a.LifeMinutes = w.LifeMinutes
	}
	return a
}
