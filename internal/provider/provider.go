// Package provider speaks to model services that the operator configured: the wires of
// Chat Completions, Responses, Messages and transcriptions, and the one chain that tries
// them in order, which the lens, the gateway and the agent share.
//
// It promises that no address is dialled but that of an [Endpoint], by the dialer that it
// was given, through no proxy and along no redirect; that nothing is sent which a
// [Ledger] was not charged for; that every answer is bounded in size and time; that a
// failure is a [Fault] of one of nine classes, and that what a [Chain] says of it holds
// no key and no address. The speech service of speech.endpoint never leaves the machine.
//
// It knows the nouns only: never a tool, a policy, or what is read out of media.
package provider

import (
	"net/url"
	"strings"

	"cutroom"
)

// Wire is the form that requests and answers have.
type Wire string

// The wires. Chat is what Gemini, OpenRouter, vLLM and most others take, too.
const (
	Chat          Wire = "chat"          // OpenAI, POST /chat/completions
	Responses     Wire = "responses"     // OpenAI, POST /responses
	Messages      Wire = "messages"      // Anthropic, POST /messages
	Transcription Wire = "transcription" // OpenAI, POST /audio/transcriptions
)

// paths are what follows the base URL.
func (w Wire) path() string {
	switch w {
	case Chat:
		return "/chat/completions"
	case Responses:
		return "/responses"
	case Messages:
		return "/messages"
	case Transcription:
		return "/audio/transcriptions"
	}
	return ""
}

// Endpoint is one model of one service. It is a value; a [Client] speaks to it.
type Endpoint struct {
	Name    string   // of the provider, as attempts show it: "openai"
	Wire    Wire     // "" is Chat
	BaseURL string   // with the version: https://api.openai.com/v1; the wire's path may follow
	Model   string   // as the service names it; may be empty for transcriptions
	Keys    []string // tried in this order; none for a service without keys

	// What some services want in their own way; the zero values do for most.
	VideoAs     string   // chat: how a video is written: "video_url" (default) or "file"
	Format      string   // transcription: response_format; "" is verbose_json
	MaxTokensAs string   // chat: "max_tokens" or "max_completion_tokens"; "" is the latter for OpenAI itself
	KeepThought bool     // responses: ask for the model's reasoning, encrypted, to send it again
	Extra       []byte   // a JSON object; its members are added to every body unless we write them
	Headers     []Header // added to every request
	Price       Price    // of what is sent and answered; zero when it is not known
}

// Header is one more header of a request. Its value may be a secret.
type Header struct{ Name, Value string }

// Price is in millionths of a currency unit for a million tokens, so that a token of a
// model at 3 dollars costs 3 of them.
type Price struct{ Input, Output int64 }

func (e Endpoint) wire() Wire {
	if e.Wire == "" {
		return Chat
	}
	return e.Wire
}

// by names who answered in a [Native] message: it is given back to nobody else.
func (e Endpoint) by() string { return e.Name + "/" + e.Model }

// Check refuses an endpoint that cannot be asked. Its error names no address.
func (e Endpoint) Check() error {
	bad := func(what, hint string) error {
		return cutroom.Errorf(cutroom.Invalid, "provider %s: %s", e.Name, what).WithHint("%s", hint)
	}
	if e.wire().path() == "" {
		return bad("its wire is unknown", "one of chat, responses, messages, transcription")
	}
	u, err := url.Parse(e.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return bad("its base URL is not an http address", "write it as https://HOST/v1, without user, query or fragment")
	}
	if e.Model == "" && e.wire() != Transcription {
		return bad("it names no model", "name one as the service does")
	}
	return nil
}

// Loopback says that the endpoint is on this very machine, by the text of its address:
// 127.0.0.0/8, ::1 or localhost, which is dialled as 127.0.0.1 and never resolved.
func (e Endpoint) Loopback() bool {
	u, err := url.Parse(e.BaseURL)
	return err == nil && cutroom.Loopback(u.Hostname())
}

// address returns the URL of a path of the service. A base URL may already end in a
// wire's path, as asr endpoints are often written; one without any path gets /v1.
func (e Endpoint) address(path string) string {
	base := strings.TrimRight(e.BaseURL, "/")
	for _, w := range []Wire{Chat, Responses, Messages, Transcription} {
		base = strings.TrimSuffix(base, w.path())
	}
	if u, err := url.Parse(base); err == nil && u.Path == "" {
		base += "/v1"
	}
	return base + path
}
