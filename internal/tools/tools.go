// Package tools lists the families of tools, and nothing else.
package tools

import (
	"cutroom/internal/tool"
	"cutroom/internal/tools/agent"
	"cutroom/internal/tools/approval"
	"cutroom/internal/tools/audit"
	"cutroom/internal/tools/edit"
	"cutroom/internal/tools/job"
	"cutroom/internal/tools/measure"
	"cutroom/internal/tools/media"
	"cutroom/internal/tools/review"
	tooltools "cutroom/internal/tools/tool"
	"cutroom/internal/tools/video"
)

// Families returns every family.
func Families() []*tool.Family {
	return []*tool.Family{agent.Family, approval.Family, audit.Family, edit.Family, job.Family, media.Family, measure.Family, review.Family, tooltools.Family, video.Family}
}
