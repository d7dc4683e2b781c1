package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"strings"
	"unicode/utf8"
)

// answer is the result of a call.
type answer struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MIMEType string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`

	pictures int
}

// took reads an answer and checks what no host may be sent more of.
func (s *mcpServer) took(tool string, m message) *answer {
	s.t.Helper()
	if m.Error != nil {
		s.t.Fatalf("%s: %s", tool, m.line)
	}
	a := &answer{}
	if err := json.Unmarshal(m.Result, a); err != nil {
		s.t.Fatalf("%s: %v: %.300s", tool, err, m.Result)
	}
	size := 0
	for _, c := range a.Content {
		if c.Type != "image" {
			continue
		}
		a.pictures++
		size += len(c.Data)
		raw, err := base64.StdEncoding.DecodeString(c.Data)
		if err != nil {
			s.t.Errorf("%s: picture %d: %v", tool, a.pictures, err)
		}
		img, err := jpeg.Decode(bytes.NewReader(raw))
		if err != nil || c.MIMEType != "image/jpeg" || max(img.Bounds().Dx(), img.Bounds().Dy()) > 1568 {
			s.t.Errorf("%s: picture %d is %s: %v", tool, a.pictures, c.MIMEType, err)
		}
	}
	n := utf8.RuneCountInString(a.text())
	if n > 10_000 || n == 0 || utf8.RuneCount(a.Structured) > 10_000 || a.pictures > 12 || size > 1_500_000 {
		s.t.Errorf("%s: %d characters of text, %d of structured content, %d pictures of %d bytes", tool, n, len(a.Structured), a.pictures, size)
	}
	if a.pictures > 0 && a.Structured != nil {
		s.t.Errorf("%s: structured content beside pictures", tool)
	}
	return a
}

func (a *answer) text() string {
	var texts []string
	for _, c := range a.Content {
		if c.Type == "text" {
			texts = append(texts, c.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// failure is what an error has to hold, in a result or in an error of the protocol.
type failure struct {
	Status string `json:"status"`
	Error  struct {
		Kind, Code, Message, Hint string
	} `json:"error"`
}

// failed reads a failure, which has to be whole.
func (s *mcpServer) failed(m message) failure {
	s.t.Helper()
	var f failure
	var raw []byte
	switch {
	case m.Error != nil:
		raw = m.Error.Data
	default:
		a := s.took("a call that fails", m)
		if !a.IsError || len(a.Content) != 1 || a.Structured != nil {
			s.t.Fatalf("no failure: %.500s", m.line)
		}
		raw = []byte(a.text())
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		s.t.Fatalf("%v: %.500s", err, m.line)
	}
	if f.Status != "failed" || f.Error.Kind == "" || f.Error.Code == "" || f.Error.Message == "" || f.Error.Hint == "" {
		s.t.Errorf("not a whole failure: %.500s", m.line)
	}
	return f
}

// source is the input of a tool that takes one.
func source(file, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"source":{"kind":"local_file","value":%q}%s}`, file, more)
}
