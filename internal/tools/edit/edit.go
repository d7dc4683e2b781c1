// Package edit holds the tools that make a new file out of others. They plan; what
// writes, proves and publishes is the engine.
package edit

import "cutroom/internal/tool"

// Family is the edit.* tools.
var Family = tool.NewFamily("edit", "Make a new file out of others; sources are never touched", "1.0.0").WithWords()
