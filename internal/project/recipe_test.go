package project_test

import (
	"testing"

	"cutroom"
	"cutroom/internal/project"
)

// What says which files are meant is never read as nothing.
func TestARecipeSaysWhichFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"match: [a.mp4]\nsteps: [{tool: edit.reverse}]", "match: ~\nsteps: [{tool: edit.reverse}]", "name: {a: b}\nsteps: [{tool: edit.reverse}]"} {
		if r, err := project.ReadRecipe([]byte(text)); cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("%q is read as %+v, %v", text, r, err)
		}
	}
}
