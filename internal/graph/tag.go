package graph

import (
	"slices"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/proof"
	"cutroom/internal/sandbox/argv"
)

// ownTags sets the edit's own tags, and says that they must be in the file.
func (c *compiler) ownTags() []argv.Atom {
	var args []argv.Atom
	for _, t := range c.g.Keep.Tags {
		value := ffmpeg.TagText(t.Value)
		args = append(args, argv.Words("-metadata", t.Name+"="+value)...)
		c.expect.Tags = append(c.expect.Tags, proof.Tag{Name: t.Name, Value: value})
	}
	return args
}

// HoldsChapters reports whether a container carries chapters.
func HoldsChapters(container string) bool { return slices.Contains(chaptered, container) }
