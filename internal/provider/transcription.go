package provider

import (
	"bytes"
	"mime/multipart"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// transcriptionWire is POST /audio/transcriptions: the first sound of a request becomes
// text. The reply's text is what the service answers, in the endpoint's format.
type transcriptionWire struct{}

func (transcriptionWire) pack(e Endpoint, r Request, _ bool) (packed, error) {
	sound, ok := r.sound()
	if !ok {
		return packed{}, faultf(BadRequest, "there is no sound to transcribe")
	}
	format := orText(e.Format, "verbose_json")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	fields := [][2]string{{"model", e.Model}, {"response_format", format}}
	if primary, _, _ := strings.Cut(r.Language, "-"); primary != "" {
		fields = append(fields, [2]string{"language", primary})
	}
	for _, f := range fields {
		if err := form.WriteField(f[0], f[1]); err != nil {
			return packed{}, err
		}
	}
	file, err := form.CreateFormFile("file", sound.fileName())
	if err != nil {
		return packed{}, err
	}
	if _, err := file.Write(sound.Data); err != nil {
		return packed{}, err
	}
	if err := form.Close(); err != nil {
		return packed{}, err
	}
	return packed{form.FormDataContentType(), body.Bytes()}, nil
}

func (r Request) sound() (Part, bool) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == Audio {
				return p, true
			}
		}
	}
	return Part{}, false
}

func (transcriptionWire) reply(doc []byte) (Reply, error) {
	var a struct {
		Error jsontext.Value `json:"error"`
	}
	if t := bytes.TrimSpace(doc); len(t) > 0 && t[0] == '{' {
		if err := decode(t, &a); err != nil {
			return Reply{}, unreadable(doc, err)
		}
		if isComplaint(a.Error) {
			return Reply{}, &embedded{doc}
		}
	}
	return Reply{Message: Message{Role: RoleAssistant, Parts: []Part{TextPart(string(doc))}}, Stop: StopEnd}, nil
}

// gather is never called: a transcription does not come in events.
func (w transcriptionWire) gather(func(Delta)) gatherer { return nil }
