// Package media holds the tools that do a whole job: watching a recording and
// answering questions about what was found. They are made of other tools, each of
// which records its own result.
package media

import (
	"cutroom"
	"cutroom/internal/tool"
)

// Family is the media.* tools.
var Family = tool.NewFamily("media", "Watch a whole recording, ask about it", cutroom.ContractVersion)
