package main

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"cutroom/internal/provider/providertest"
	"cutroom/internal/testenv"
)

// chatBody is a request of the chat wire as far as these tests look at it.
type chatBody struct {
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	ResponseFormat json.RawMessage `json:"response_format"`
}

type chatPart struct {
	Text  string `json:"text"`
	Image struct {
		URL string `json:"url"`
	} `json:"image_url"`
	Video struct {
		URL string `json:"url"`
	} `json:"video_url"`
	Audio struct {
		Data   string `json:"data"`
		Format string `json:"format"`
	} `json:"input_audio"`
}

func chatOf(t *testing.T, r providertest.Request) chatBody {
	t.Helper()
	var b chatBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// sent is what one request carried: the types of its media, and the bytes of the first.
func sent(t *testing.T, r providertest.Request) (types []string, first []byte) {
	t.Helper()
	add := func(mediaType, data string) {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			t.Fatal(err)
		}
		if types = append(types, mediaType); first == nil {
			first = raw
		}
	}
	for _, m := range chatOf(t, r).Messages {
		var parts []chatPart
		if json.Unmarshal(m.Content, &parts) != nil {
			continue
		}
		for _, p := range parts {
			url := p.Image.URL + p.Video.URL
			if rest, ok := strings.CutPrefix(url, "data:"); ok {
				mediaType, data, _ := strings.Cut(rest, ";base64,")
				add(mediaType, data)
			}
			if p.Audio.Data != "" {
				add("audio/"+map[string]string{"mp3": "mpeg"}[p.Audio.Format]+map[string]string{"wav": "wav"}[p.Audio.Format], p.Audio.Data)
			}
		}
	}
	return types, first
}

// told are the texts of one request: those of the system, and all others.
func told(t *testing.T, r providertest.Request) (system, other string) {
	t.Helper()
	for _, m := range chatOf(t, r).Messages {
		var text string
		var parts []chatPart
		if json.Unmarshal(m.Content, &text) != nil && json.Unmarshal(m.Content, &parts) == nil {
			for _, p := range parts {
				text += p.Text + "\n"
			}
		}
		if m.Role == "system" {
			system += text
			continue
		}
		other += text
	}
	return system, other
}

// still makes one picture from a source of lavfi.
func still(t *testing.T, dir, source, name string) {
	t.Helper()
	testenv.Run(t, dir, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-frames:v", "1", name)
}
