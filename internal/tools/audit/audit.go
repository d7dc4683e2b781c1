// Package audit holds the tool that reads what was done and refused.
package audit

import (
	"cutroom"
	"cutroom/internal/tool"
)

// Family is the audit.* tools.
var Family = tool.NewFamily("audit", "Say what was done and refused, and prove it", cutroom.ContractVersion)
