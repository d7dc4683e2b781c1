package agent_test

import (
	"cutroom/internal/tool"
	"cutroom/internal/tools/agent"
)

// families are the tools of these tests; what they do is seen by witnesses in a folder.
func families(dir string) []*tool.Family {
	family := tool.NewFamily("agent", "tests", "1.0.0")
	addLook(family)
	addDeed(family, dir)
	addClosed(family)
	addAsked(family, dir)
	addMeet(family)
	addPicture(family)
	return []*tool.Family{family, agent.Family}
}
