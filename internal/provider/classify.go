package provider

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads what services write: they repeat names and cut characters.
func lenient() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// A document of some size may hold that many objects: a small one of a few bytes becomes
// some forty times as much in memory.
const (
	someSize   = 1 << 20
	maxObjects = 1 << 17
)

var errObjects = errors.New("the document holds too many objects")

func decode(data []byte, into any) error {
	if len(data) > someSize && bytes.Count(data, []byte("{")) > maxObjects {
		return errObjects
	}
	return json.Unmarshal(data, into, lenient())
}

// Words that decide where a status does not. They are looked for in what the service
// says is wrong, never in a whole answer, and only under the status that they stand at.
func usageLimit() []string {
	return []string{"usage limit", "usage_limit", "credit balance is too low", "billing_hard_limit", "billing hard limit", "billing_error", "insufficient_quota"}
}

func overflowWords() []string {
	return []string{
		"context_length", "context length", "context window", "context size", "context_window", "prompt is too long", "prompt too long", "input is too long", "input length",
		"maximum number of tokens", "too many tokens", "input token count", "maximum input tokens", "reduce the length of the messages", "max_prompt_tokens",
	}
}

func refusalWords() []string {
	return []string{
		"content_filter", "content filter", "content_policy", "content policy", "content management policy", "safety system", "moderation", "responsibleai", "prohibited_content",
		"data_inspection_failed",
	}
}

func largeWords() []string {
	return []string{
		"too large", "too big", "too many", "request_too_large", "payload", "exceeds the maximum", "exceeds maximum", "exceeds the limit", "exceeds the size", "exceeds size", "maximum size", "size limit",
		"exceeds 5 mb", "mb maximum", "at most", "larger than", "string_above_max_length", "image_too_large", "too_large", "too long", "longer than", "maximum allowed",
	}
}

func contains(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// classify is the fault of an answer that is not a success. body may be its beginning.
func classify(status int, h http.Header, body []byte, now time.Time) *Fault {
	said := complaint(body)
	f := &Fault{Status: status, Message: orText(said.message, fmt.Sprintf("status %d %s", status, http.StatusText(status)))}
	f.Class, f.TooLarge = said.class(status)
	f.RetryAfter = cmp.Or(retryAfter(h, now), resetsIn(string(body)))
	return f
}

// class is the table of statuses and words.
func (s said) class(status int) (c Class, tooLarge bool) {
	text := strings.ToLower(s.message + "\n" + s.code + "\n" + s.kind)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return Auth, false
	case status == http.StatusPaymentRequired:
		return Quota, false
	case status == http.StatusTooManyRequests && contains(text, usageLimit()):
		return Quota, false
	case status == http.StatusTooManyRequests:
		return RateLimited, false
	case status == http.StatusBadRequest && contains(text, usageLimit()):
		return Quota, false
	case status == http.StatusRequestTimeout:
		return TimedOut, false
	case status == http.StatusRequestEntityTooLarge:
		return BadRequest, true
	case status >= 500:
		return Unavailable, false
	case status < 300:
		return EmptyOrUnparsable, false
	case status < 400:
		return BadRequest, false // redirects are not followed
	case contains(text, overflowWords()):
		return ContextOverflow, false
	case contains(text, refusalWords()):
		return Refused, false
	}
	return BadRequest, contains(text, largeWords())
}

// said is what a service says is wrong.
type said struct{ message, code, kind string }

// complaint reads the usual forms of an error's body; another body is its own message.
func complaint(body []byte) said {
	body = bytes.TrimSpace(body)
	if len(body) > 0 && body[0] == '[' { // Gemini puts the object into an array
		var list []jsontext.Value
		if decode(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	var doc struct {
		Error   jsontext.Value `json:"error"`
		Message jsontext.Value `json:"message"`
		Detail  jsontext.Value `json:"detail"`
		Code    jsontext.Value `json:"code"`
		Type    jsontext.Value `json:"type"`
	}
	if decode(body, &doc) != nil {
		return said{message: string(body)}
	}
	whole := said{message: cmp.Or(textOf(doc.Message), textOf(doc.Detail)), code: textOf(doc.Code), kind: textOf(doc.Type)}
	if isNull(doc.Error) {
		if whole.message == "" {
			whole.message = string(body)
		}
		return whole
	}
	var inner struct {
		Message jsontext.Value `json:"message"`
		Code    jsontext.Value `json:"code"`
		Type    jsontext.Value `json:"type"`
		Status  jsontext.Value `json:"status"`
	}
	if decode(doc.Error, &inner) != nil {
		whole.message = cmp.Or(textOf(doc.Error), whole.message)
		return whole
	}
	return said{
		message: cmp.Or(textOf(inner.Message), whole.message, string(doc.Error)),
		code:    cmp.Or(textOf(inner.Code), whole.code),
		kind:    cmp.Or(textOf(inner.Type), textOf(inner.Status), whole.kind),
	}
}

func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// isComplaint says that the member error of an answer holds one.
func isComplaint(v jsontext.Value) bool { return !isNull(v) && v.Kind() != 'f' && textOf(v) != "" }

// textOf is a string as it reads, anything else as it is written, null and {} as nothing.
func textOf(v jsontext.Value) string {
	if isNull(v) {
		return ""
	}
	var s string
	if decode(v, &s) == nil {
		return s
	}
	if s = string(v); s == "{}" || s == "[]" {
		return ""
	}
	return s
}

// statusOf is the status that an error within an answer stands for: Anthropic's types,
// OpenAI's codes, and the numbers that others give. 0 when it says none.
func (s said) status() int {
	if n, err := strconv.Atoi(s.code); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, w := range []string{s.kind, s.code} {
		switch strings.ToLower(w) {
		case "authentication_error", "invalid_api_key", "unauthenticated":
			return http.StatusUnauthorized
		case "permission_error", "permission_denied":
			return http.StatusForbidden
		case "billing_error", "insufficient_quota":
			return http.StatusPaymentRequired
		case "rate_limit_error", "rate_limit_exceeded", "resource_exhausted":
			return http.StatusTooManyRequests
		case "request_too_large":
			return http.StatusRequestEntityTooLarge
		case "invalid_request_error", "invalid_request", "invalid_argument", "invalid_prompt", "not_found_error", "context_length_exceeded", "content_filter":
			return http.StatusBadRequest
		case "timeout_error":
			return http.StatusRequestTimeout
		case "overloaded_error", "api_error", "server_error", "internal", "unavailable":
			return http.StatusServiceUnavailable
		}
	}
	return 0
}

// within is the fault of an error that stands in an answer of status 200, or in a stream.
// What it does not say counts as the service's own fault.
func within(doc []byte, now time.Time) *Fault {
	s := complaint(doc)
	status := s.status()
	if status == 0 {
		status = http.StatusInternalServerError
	}
	return classify(status, nil, doc, now)
}

// longestRest bounds what a service can say of when to come back.
const longestRest = 31 * 24 * time.Hour

// retryAfter reads the header of that name: seconds, or a date of HTTP, which counts
// from the answer's own date where it has one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return bounded(s)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return bounded(at.Sub(now).Seconds())
}

// bounded turns seconds into a time between 0 and [longestRest]; NaN is 0.
func bounded(seconds float64) time.Duration {
	switch {
	case !(seconds > 0):
		return 0
	case seconds > longestRest.Seconds():
		return longestRest
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// resetsIn reads "resets in 1h 2m 3s" and its like out of a body; 0 when there is none.
func resetsIn(body string) time.Duration {
	text := strings.ToLower(body)
	for _, lead := range []string{"resets in", "reset in", "resets after", "reset after", "try again in", "try again after", "retry in", "retry after", `"retrydelay":`} {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, lead)
			if !found {
				break
			}
			if d := spell(after); d > 0 {
				return d
			}
			rest = after
		}
	}
	return 0
}

// spell reads a span of time at the beginning of text: numbers with units, at most a few
// words apart.
func spell(text string) time.Duration {
	var sum float64
	for i := 0; i < 5; i++ {
		text = strings.TrimLeft(text, " \t\r\n,:\"")
		text = strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(text, "and "), "about "), " ")
		n := 0
		for n < len(text) && n < 16 && (text[n] >= '0' && text[n] <= '9' || text[n] == '.') {
			n++
		}
		value, err := strconv.ParseFloat(strings.TrimRight(text[:n], "."), 64)
		if err != nil {
			break
		}
		text = strings.TrimLeft(text[n:], " ")
		n = 0
		for n < len(text) && text[n] >= 'a' && text[n] <= 'z' {
			n++
		}
		unit := unitOf(text[:n])
		if unit == 0 {
			break
		}
		sum += value * unit
		text = text[n:]
	}
	return bounded(sum)
}

// unitOf is a unit of time in seconds, 0 for another word.
func unitOf(word string) float64 {
	switch word {
	case "d", "day", "days":
		return 86400
	case "h", "hr", "hrs", "hour", "hours":
		return 3600
	case "m", "min", "mins", "minute", "minutes":
		return 60
	case "s", "sec", "secs", "second", "seconds":
		return 1
	case "ms", "millisecond", "milliseconds":
		return 0.001
	}
	return 0
}
