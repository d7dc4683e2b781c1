// Package tool holds the tools about tools: how a model that sees only some of them
// finds the rest.
package tool

import (
	"cutroom"
	registry "cutroom/internal/tool"
)

// Family is the tool.* tools.
var Family = registry.NewFamily("tool", "Find tools by what they do", cutroom.ContractVersion)
