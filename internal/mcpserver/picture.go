package mcpserver

import (
	"context"
	"encoding/base64"
	"fmt"

	"cutroom/internal/ffmpeg"
	"cutroom/internal/tool"
)

// captionRoom is kept free in the text for what the pictures show.
const captionRoom = 1500

// maxPicture is the largest recorded picture that is read.
const maxPicture = 32 << 20

// pictures returns as many pictures as a host takes in, as JPEG, and the lines that
// say what they show and how many are left. What one leaves of its share, the later
// ones have.
func (s *server) pictures(ctx context.Context, from []tool.Picture) ([][]byte, string, error) {
	var data [][]byte
	var captions []string
	sizes := make([]int, len(from))
	for i, p := range from {
		sizes[i] = int(p.Ref.SizeBytes)
	}
	left := maxBytes
	for i, p := range from {
		share := ffmpeg.SharePictures(sizes[i:], left, maxPictures-len(data))[0]
		if share == 0 {
			continue
		}
		raw, err := s.Engine.Picture(ctx, s.Principal, p.Ref, maxPicture)
		if err != nil {
			return nil, "", err
		}
		fit, err := ffmpeg.FitJPEG(raw, maxSide, share)
		if err != nil {
			s.Log.Warn("picture", "path", p.Ref.RelativePath, "cause", err)
			continue
		}
		left -= base64.StdEncoding.EncodedLen(len(fit))
		data = append(data, fit)
		captions = append(captions, fmt.Sprintf("picture %d: %s", len(data), p.Caption))
	}
	note := "\n"
	for _, c := range captions {
		note += c + "\n"
	}
	if n := len(from) - len(data); n > 0 {
		note += fmt.Sprintf("pictures not shown: %d; media_ask shows those of a question or a time\n", n)
	}
	return data, clip(note, captionRoom), nil
}
