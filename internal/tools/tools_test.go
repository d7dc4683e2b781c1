package tools

import (
	"testing"

	"cutroom/internal/tool"
)

func TestRegistry(t *testing.T) {
	t.Parallel()
	if _, err := tool.NewRegistry(Families()...); err != nil {
		t.Fatal(err)
	}
}
