// Package agent holds the tools that runs of agents alone are offered.
package agent

import (
	"cutroom"
	"cutroom/internal/tool"
)

// Family is the agent.* tools.
var Family = tool.NewFamily("agent", "What runs of agents do with each other", cutroom.ContractVersion)
