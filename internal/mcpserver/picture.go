package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"cutroom/internal/tool"
)

// captionRoom is kept free in the text for what the pictures show.
const captionRoom = 1500

// maxPicture is the largest recorded picture that is read.
const maxPicture = 32 << 20

// pictures returns as many pictures as a host takes in, as JPEG, and the lines that
// say what they show and how many are left.
func (s *server) pictures(ctx context.Context, from []tool.Picture) ([][]byte, string, error) {
	var data [][]byte
	var captions []string
	left := maxBytes
	for _, p := range from {
		if len(data) == maxPictures {
			break
		}
		raw, err := s.Engine.Picture(ctx, s.Principal, p.Ref, maxPicture)
		if err != nil {
			return nil, "", err
		}
		if encoded(len(raw)) > left {
			continue
		}
		left -= encoded(len(raw))
		data = append(data, raw)
		captions = append(captions, fmt.Sprintf("picture %d: %s", len(data), p.Caption))
	}
	if len(captions) == 0 {
		return nil, "", nil
	}
	note := "\n\n" + strings.Join(captions, "\n")
	if n := len(from) - len(data); n > 0 {
		note += fmt.Sprintf("\npictures not shown: %d; media_ask shows those of a time or a question", n)
	}
	return data, clip(note, captionRoom), nil
}
