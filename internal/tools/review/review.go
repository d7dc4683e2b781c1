// Package review holds the tools that say whether a file is what was wanted: they
// measure and show, and change nothing.
package review

import "cutroom/internal/tool"

// Family is the review.* tools.
var Family = tool.NewFamily("review", "Check and show a file before it is used", "1.0.0").WithWords()
