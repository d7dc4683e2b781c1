package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cutroom/internal/provider"
	"cutroom/internal/provider/providertest"
)

// seconds are a stretch of time as evidence gives it.
var seconds = regexp.MustCompile(`\d:\d\d:\d\d\.\d{3}–\d:\d\d:\d\d\.\d{3}`)

// sentence is said in the first seconds of the clip.
const sentence = "today we look at the new release"

// mediaRows: what a model cannot take in reaches it in words, and is read once.
func (t *trade) mediaRows(ctx context.Context, w provider.Wire) ([]Row, error) {
	at := slices.IndexFunc(libraries(), func(l library) bool { return l.name == t.name })*2 + slices.Index(t.wires, w)
	words, paths := fmt.Sprintf("TICKET %d", 4700+at), fmt.Sprintf("INVOICE %d", 8800+at)
	media, err := t.lab.putMedia(ctx, t.s.workspace, fmt.Sprintf("%s-%s", t.name, w), words, paths)
	if err != nil {
		return nil, err
	}
	wanted := []func(string) bool{
		func(text string) bool {
			return strings.HasPrefix(text, marker+"an image") && strings.Contains(text, words)
		},
		func(text string) bool { return strings.HasPrefix(text, marker+"an audio recording") && spoke(text) },
		func(text string) bool {
			return strings.HasPrefix(text, marker+"a video") && spoke(text) && strings.Contains(text, "frame-0001.jpg")
		},
		func(text string) bool {
			return strings.HasPrefix(text, marker+"an image") && strings.Contains(text, paths)
		},
	}
	if t.still {
		media, wanted = slices.Delete(media, 1, 3), slices.Delete(wanted, 1, 3)
	}
	o := t.order(w, "what is there?")
	o.Media = media
	texts, err := t.seen(o)
	if err != nil {
		return nil, err
	}
	blocks := Row{Check: "picture, sound and video arrive as evidence with seconds and frames", Passed: len(texts) == len(wanted)}
	path := Row{Check: "so does a picture named by its path in the workspace", Passed: blocks.Passed}
	for i := range texts {
		if row := []*Row{&blocks, &path}[i/(len(wanted)-1)]; !blocks.Passed || !wanted[i](texts[i]) {
			row.Passed = false
		}
	}
	note(&blocks, "the words in the picture, the sentence with its seconds, the sentence and the frames of the video; nothing of the content goes upstream")
	note(&path, "by the words in it")
	again, err := t.againRow(o, texts)
	if err != nil {
		return nil, err
	}
	anew, err := t.anewRow(ctx, o, texts)
	if err != nil {
		return nil, err
	}
	if !blocks.Passed || !path.Passed || !again.Passed || !anew.Passed {
		t.say("evidence over %s: %q", w, texts)
	}
	return []Row{blocks, path, again, anew}, nil
}

// spoke says whether a text holds the sentence, with seconds.
func spoke(text string) bool {
	return strings.Contains(strings.ToLower(text), sentence) && seconds.MatchString(text)
}

// seen asks through the gateway and returns the evidence that reached the upstream; none
// when any of the content did.
func (t *trade) seen(o order) ([]string, error) {
	t.s.upstream.Answer(func(providertest.Request) providertest.Step { return providertest.Step{Text: spoken1, Usage: used} })
	before := len(t.s.upstream.Requests())
	a, err := t.ask(t.through(o), func() {})
	if err != nil {
		return nil, err
	}
	r, _ := t.s.last()
	if a.Text != spoken1 || len(t.s.upstream.Requests()) != before+1 {
		t.say("answered %q, %+v after %d requests", a.Text, a.Fault, len(t.s.upstream.Requests())-before)
		return nil, nil
	}
	for _, m := range o.Media {
		text := base64.StdEncoding.EncodeToString(m.Data)
		if len(text) > 100 && bytes.Contains(r.Body, []byte(text[len(text)/2:][:60])) {
			t.say("the content of %s went upstream", m.Name)
			return nil, nil
		}
	}
	return evidence(r.Body), nil
}

// againRow: a conversation that goes on sends its media again, which are not read again.
func (t *trade) againRow(o order, first []string) (Row, error) {
	row := Row{Check: "a conversation that goes on reads nothing twice"}
	read, err := t.who.rows("--tool", "media.*")
	if err != nil {
		return row, err
	}
	o.Again = true
	texts, err := t.seen(o)
	if err != nil {
		return row, err
	}
	after, err := t.who.rows("--tool", "media.*")
	row.Passed = len(first) == len(o.Media) && slices.Equal(first, texts) && len(read) >= len(first) && len(read) < 200
	// The file at the path is asked for again, since it may be another one; the tool knows.
	row.Passed = row.Passed && len(after) == len(read)+1
	if !row.Passed {
		t.say("%d calls, then %d", len(read), len(after))
	}
	note(&row, "the same evidence; the audit has no further call for a content, and one, answered from what is recorded, for the path")
	return row, err
}

// anewRow: what was read is recorded, so a server that starts anew reads nothing again.
func (t *trade) anewRow(ctx context.Context, o order, first []string) (Row, error) {
	row := Row{Check: "nor does a server that was started anew"}
	read, err := t.who.rows("--tool", "video.*")
	if err != nil {
		return row, err
	}
	t.s.stop()
	if err := t.s.start(ctx, t.lab); err != nil {
		return row, err
	}
	o.Again = true
	texts, err := t.seen(o)
	if err != nil {
		return row, err
	}
	after, err := t.who.rows("--tool", "video.*")
	row.Passed = len(first) == len(o.Media) && slices.Equal(first, texts) && len(read) > 0 && len(read) < 200 && len(read) == len(after)
	if !row.Passed {
		t.say("%d calls, then %d; %q", len(read), len(after), texts)
	}
	note(&row, "the same evidence, from what is recorded: no frame is taken, no text or speech recognized")
	return row, err
}
