package agent

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"cutroom/internal/engine"
	"cutroom/internal/ffmpeg"
	"cutroom/internal/provider"
	"cutroom/internal/run"
	"cutroom/internal/tool"
)

// What a tool's answer tells a model at once.
const (
	wholeAnswer = 12 << 10 // bytes of JSON that are told as they are
	shownAnswer = 10_000   // characters of one that is larger
	leastAnswer = 400      // bytes that are told, however many calls there are
	maxPictures = 12       // of one request, where the model says nothing
	pictureSide = 1568     // pixels
	pictureSize = 300_000  // bytes
	pictureFile = 32 << 20 // bytes of a recorded picture that is read
)

// told is what the model is told of an answer: its JSON where that is small, else how it
// reads, with where the whole is.
func (s *session) told(reply *engine.Reply, room int) (text string, pictures []picture) {
	shown, isShown := reply.Output.(tool.Shown)
	if isShown {
		showing := shown.Show(tool.Room{Text: min(shownAnswer, room/2)}) // in characters
		for _, p := range showing.Pictures[:min(len(showing.Pictures), maxPictures)] {
			pictures = append(pictures, picture{p.Ref, p.Caption})
		}
		text = showing.Text
	}
	doc := string(s.Redact.JSON(reply.JSON))
	if len(doc) <= min(wholeAnswer, room) {
		return doc, pictures
	}
	if !isShown {
		text, _ = cutTo(doc, min(shownAnswer, room))
		text += "\n… cut here"
	}
	text = s.Redact.Text(text)
	if reply.Run != "" && !reply.Transient {
		text += fmt.Sprintf("\nThe whole answer (%d bytes) is the result %s.", len(doc), reply.Run)
	}
	return text, pictures
}

// room is how much of the answer of a call is told at once, in bytes: those of one turn
// stay together when older messages are left out, so that they share a part of what the
// least of the models reads.
func (s *session) room(c call) int {
	return max(int(s.limit())/max(c.beside, 1), leastAnswer)
}

// describe notes what an event says of an answer; of one that delegated, to which run.
func describe(end *run.End, reply *engine.Reply, delegates bool) {
	var out struct {
		Status    string `json:"status"`
		Output    string `json:"output"`
		Artifacts []struct {
			Path string `json:"relative_path"`
		} `json:"artifacts"`
		Child string `json:"run_id"`
	}
	if json.Unmarshal(reply.JSON, &out) != nil {
		return
	}
	if end.Result = clip(out.Status, 40); delegates {
		end.Child = clip(out.Child, 64)
	}
	if out.Output != "" {
		end.Files = append(end.Files, out.Output)
	}
	for _, a := range out.Artifacts {
		if len(end.Files) < maxFiles {
			end.Files = append(end.Files, a.Path)
		}
	}
}

// maxFiles are the files of a result that an event names.
const maxFiles = 20

// show puts the newest pictures of the conversation into its messages, as many as fit.
func (s *session) show(ctx context.Context, m Model, messages []provider.Message, fit int64) error {
	left := int(min(int64(m.images()), fit))
	for i := len(s.talk) - 1; i >= 0 && left > 0; i-- {
		e := s.talk[i]
		if len(e.pictures) == 0 {
			continue
		}
		at := i + len(messages) - len(s.talk)
		parts := append([]provider.Part{}, messages[at].Parts...)
		for _, p := range e.pictures {
			if left == 0 {
				break
			}
			data, err := s.picture(ctx, p)
			if err != nil {
				if ctx.Err() != nil {
					return err
				}
				s.Logger.Warn("picture", "path", p.Ref.RelativePath, "cause", err)
				continue // its text says what it shows
			}
			left--
			parts = append(parts, provider.TextPart("\nPicture "+p.Ref.RelativePath+": "+p.Caption),
				provider.Part{Kind: provider.Image, Data: data, Type: "image/jpeg"})
		}
		messages[at].Parts = parts
	}
	return nil
}

// picture reads a picture, in a size that models take.
func (s *session) picture(ctx context.Context, p picture) ([]byte, error) {
	raw, err := s.Engine.Picture(ctx, s.info.Spec.Actor.Principal, p.Ref, pictureFile)
	if err != nil {
		return nil, err
	}
	return ffmpeg.FitJPEG(raw, pictureSide, pictureSize)
}

// scrub takes the place of the workspace on this machine out of a message.
func (s *session) scrub(text string) string {
	if len(s.Workspace) < 2 {
		return text
	}
	return strings.NewReplacer(s.Workspace+"/", "", s.Workspace, ".").Replace(text)
}

// cutTo is the beginning of a text, at most n bytes, at a character.
func cutTo(text string, n int) (head string, cut bool) {
	if len(text) <= n {
		return text, false
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], true
}

// clip is the beginning of a text, at most n characters.
func clip(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}
