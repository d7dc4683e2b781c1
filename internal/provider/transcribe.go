package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"cutroom"
)

// Speech is a service with OpenAI's form of POST /v1/audio/transcriptions, such as
// the servers of whisper.cpp and faster-whisper.
type Speech struct {
	URL   string // of the request, whole
	Model string // sent as the model; may be empty
	Key   string // sent as a bearer token; may be empty
}

// Check refuses what is not a loopback address.
func (s Speech) Check() error {
	u, err := url.Parse(s.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return cutroom.Errorf(cutroom.Invalid, "speech.endpoint.url is not an http address").
			WithHint("give the whole address of the request, such as http://127.0.0.1:8080/v1/audio/transcriptions")
	}
	if !cutroom.Loopback(u.Hostname()) {
		return cutroom.Errorf(cutroom.Denied, "speech.endpoint.url names another machine; nothing is sent there in this version").
			WithHint("run the service on this machine and name 127.0.0.1")
	}
	return nil
}

// ID identifies the service in keys and records: what may change its answers, and no
// secret.
func (s Speech) ID() cutroom.Digest { return cutroom.DigestOf([]byte(s.URL + "\n" + s.Model)) }

// maxAnswer bounds what a service may answer.
const maxAnswer = 64 << 20

// Transcribe sends a WAV file and returns the answer, JSON with segments
// (response_format verbose_json). language is a BCP 47 tag, or empty.
func (s Speech) Transcribe(ctx context.Context, wav io.Reader, language string) ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	body, form := io.Pipe()
	parts := multipart.NewWriter(form)
	go func() { form.CloseWithError(s.write(parts, wav, language)) }()
	defer body.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", parts.FormDataContentType())
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	client := local()
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return nil, s.fault(ctx, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, s.fault(ctx, err)
	case res.StatusCode != http.StatusOK:
		return nil, cutroom.Errorf(cutroom.ToolFailed, "the speech service answers %d", res.StatusCode).
			WithHint("see the service's own log; check speech.endpoint in cutroom.yaml")
	case len(answer) > maxAnswer:
		return nil, cutroom.Errorf(cutroom.Limit, "the speech service answers with more than %d MiB", maxAnswer>>20)
	}
	return answer, nil
}

// write sends the form. Where the file is long it is never held whole.
func (s Speech) write(parts *multipart.Writer, wav io.Reader, language string) error {
	fields := [][2]string{{"model", s.Model}, {"response_format", "verbose_json"}}
	if primary, _, _ := strings.Cut(language, "-"); primary != "" {
		fields = append(fields, [2]string{"language", primary})
	}
	for _, f := range fields {
		if err := parts.WriteField(f[0], f[1]); err != nil {
			return err
		}
	}
	file, err := parts.CreateFormFile("file", "speech.wav")
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, wav); err != nil {
		return err
	}
	return parts.Close()
}

func (s Speech) fault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errElsewhere) {
		return cutroom.Errorf(cutroom.Denied, "speech.endpoint.url leads to another machine").WithCause(err).WithHint("name 127.0.0.1")
	}
	return cutroom.Errorf(cutroom.Unavailable, "the speech service does not answer").WithCause(err).
		WithHint("start it; check speech.endpoint.url in cutroom.yaml")
}

var errElsewhere = errors.New("the address is not a loopback address")

// local is a client that reaches this machine only. No name is resolved: localhost is
// 127.0.0.1.
func local() *http.Client {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		if host = cutroom.Dialled(host); !cutroom.Loopback(host) {
			return nil, fmt.Errorf("%s: %w", host, errElsewhere)
		}
		return dialer.DialContext(ctx, network, net.JoinHostPort(host, port))
	}
	return &http.Client{
		Transport:     &http.Transport{DialContext: dial},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
