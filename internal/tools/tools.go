// Package tools lists the families of tools, and nothing else.
package tools

import (
	"cutroom/internal/tool"
	"cutroom/internal/tools/job"
	"cutroom/internal/tools/measure"
	"cutroom/internal/tools/media"
	tooltools "cutroom/internal/tools/tool"
	"cutroom/internal/tools/video"
)

// Families returns every family.
func Families() []*tool.Family {
	return []*tool.Family{job.Family, media.Family, measure.Family, tooltools.Family, video.Family}
}
