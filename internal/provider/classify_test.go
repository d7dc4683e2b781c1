package provider

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestClassify is the table of statuses and words, with bodies as services write them.
func TestClassify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		class  Class
		large  bool
		said   string // the beginning of the message
	}{
		{401, `{"error":{"message":"Incorrect API key provided: sk-x.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Auth, false, "Incorrect API key"},
		{401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"req_1"}`, Auth, false, "invalid x-api-key"},
		{401, ``, Auth, false, ""},
		{403, `{"error":{"code":403,"message":"Country not supported","status":"PERMISSION_DENIED"}}`, Auth, false, "Country"},
		{403, `<html><h1>Forbidden</h1></html>`, Auth, false, "<html>"},
		{402, `{"error":{"message":"Insufficient credits","code":402}}`, Quota, false, "Insufficient"},
		{402, `{"detail":"Payment Required"}`, Quota, false, "Payment"},
		{429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM). Please try again in 6m0s.","type":"tokens","code":"rate_limit_exceeded"}}`, RateLimited, false, "Rate limit"},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, Quota, false, "You exceeded"},
		{429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your limit"}}`, RateLimited, false, "This request"},
		{429, `[{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}]`, RateLimited, false, "Resource has"},
		{429, ``, RateLimited, false, ""},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-02-01."}}`, Quota, false, "You have"},
		{400, `{"error":{"message":"usage limit reached","code":"usage_limit"}}`, Quota, false, "usage limit"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the API."}}`, Quota, false, "Your credit"},
		{400, `{"error":{"message":"Billing hard limit has been reached","code":"billing_hard_limit_reached"}}`, Quota, false, "Billing"},
		{400, `{"error":{"message":"This model's maximum context length is 128000 tokens.","code":"context_length_exceeded"}}`, ContextOverflow, false, "This model"},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212000 tokens > 200000 maximum"}}`, ContextOverflow, false, "prompt"},
		{400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, ContextOverflow, false, "The input"},
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens","code":400}`, ContextOverflow, false, "This model"},
		{400, `{"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes"}}`, BadRequest, true, "messages"},
		{400, `{"error":{"message":"Too many images: at most 8 are allowed"}}`, BadRequest, true, "Too many"},
		{400, `{"error":"file is too large"}`, BadRequest, true, "file is"},
		{400, `{"error":{"message":"Invalid value: 'smell'","code":"invalid_value"}}`, BadRequest, false, "Invalid"},
		{400, `not JSON at all`, BadRequest, false, "not JSON"},
		{400, `{"error":{"message":"The response was filtered","code":"content_filter"}}`, Refused, false, "The response"},
		{400, `{"error":{"message":"Your request was rejected as a result of our safety system."}}`, Refused, false, "Your request"},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, BadRequest, true, "Request"},
		{413, `<html>413 Request Entity Too Large</html>`, BadRequest, true, "<html>"},
		{404, `{"error":{"message":"The model does not exist","code":"model_not_found"}}`, BadRequest, false, "The model"},
		{422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, BadRequest, false, `[{"loc"`},
		{415, ``, BadRequest, false, ""},
		{408, ``, TimedOut, false, ""},
		{500, `{"error":{"message":"quota lookup failed: insufficient_quota, usage limit, 429 rate limit, resets in 1h"}}`, Unavailable, false, "quota"},
		{502, `Bad Gateway`, Unavailable, false, "Bad"},
		{503, ``, Unavailable, false, ""},
		{504, `upstream request timeout`, Unavailable, false, "upstream"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Unavailable, false, "Overloaded"},
		{404, `{"error":{"message":"quota project not found: usage limit 429"}}`, BadRequest, false, "quota"},
		{301, ``, BadRequest, false, ""},
		{307, ``, BadRequest, false, ""},
		{204, ``, EmptyOrUnparsable, false, ""},
		{202, `{}`, EmptyOrUnparsable, false, "{}"},
		{400, `{"error":null,"message":"m"}`, BadRequest, false, "m"},
		{400, `{"error":{}}`, BadRequest, false, "{}"},
		{400, `{"error":{"message":"a","message":"b"}}`, BadRequest, false, "b"},
		{400, "{\"error\":{\"message\":\"\xff\xfe\"}}", BadRequest, false, "\ufffd"},
	} {
		f := classify(c.status, http.Header{}, []byte(c.body), time.Time{})
		if f.Class != c.class || f.TooLarge != c.large || f.Status != c.status || !strings.HasPrefix(f.Message, c.said) || f.Message == "" {
			t.Errorf("%d %s: %+v", c.status, c.body, f)
		}
	}
}

// TestWithin: errors that come under status 200 count as what they say they are.
func TestWithin(t *testing.T) {
	t.Parallel()
	for body, class := range map[string]Class{
		`{"error":{"code":429,"message":"Rate limit"}}`:                                                 RateLimited,
		`{"error":{"code":402,"message":"no credits"}}`:                                                 Quota,
		`{"error":{"code":"502","message":"Provider returned error"}}`:                                  Unavailable,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                   Unavailable,
		`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`:                    RateLimited,
		`{"type":"error","error":{"type":"authentication_error","message":"who?"}}`:                     Auth,
		`{"type":"error","error":{"type":"billing_error","message":"pay"}}`:                             Quota,
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9>8"}}`: ContextOverflow,
		`{"type":"error","error":{"type":"request_too_large","message":"x"}}`:                           BadRequest,
		`{"type":"error","error":{"type":"timeout_error","message":"x"}}`:                               TimedOut,
		`{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`:              RateLimited,
		`{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"quota broke"}}`:     Unavailable,
		`{"error":{"message":"something with quota and 429 in it"}}`:                                    Unavailable,
		`{"error":"usage limit"}`: Unavailable,
	} {
		if f := within([]byte(body), time.Time{}); f.Class != class || f.Message == "" {
			t.Errorf("%s: %+v", body, f)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		value, date string
		want        time.Duration
	}{
		{"7", "", 7 * time.Second},
		{" 0.5 ", "", 500 * time.Millisecond},
		{"0", "", 0},
		{"-3", "", 0},
		{"NaN", "", 0},
		{"Inf", "", longestRest},
		{"1e99", "", longestRest},
		{"soon", "", 0},
		{"", "", 0},
		{"Fri, 01 May 2026 12:01:30 GMT", "", 90 * time.Second},
		{"Fri, 01 May 2026 12:01:30 GMT", "Fri, 01 May 2026 12:01:00 GMT", 30 * time.Second}, // their clock goes ahead
		{"Fri, 01 May 2026 11:00:00 GMT", "", 0},
		{"Friday, 01-May-26 12:00:10 GMT", "", 10 * time.Second},
		{"Fri, 01 May 2099 11:00:00 GMT", "", longestRest},
	} {
		h := http.Header{"Retry-After": {c.value}}
		if c.date != "" {
			h.Set("Date", c.date)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q at %q: %s, want %s", c.value, c.date, got, c.want)
		}
	}
}

func TestResetsIn(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]time.Duration{
		"Limit reached. Resets in 1h 2m 3s":          time.Hour + 2*time.Minute + 3*time.Second,
		"resets in 45s":                              45 * time.Second,
		"RESETS IN 2 hours, 5 minutes and 1 second.": 2*time.Hour + 5*time.Minute + time.Second,
		"Please try again in 6m0s.":                  6 * time.Minute,
		"Please try again in 1.5s":                   1500 * time.Millisecond,
		"Please retry in 34.074824224s.":             34074824224 * time.Nanosecond,
		`"retryDelay": "34s"`:                        34 * time.Second,
		"try again in 20ms":                          20 * time.Millisecond,
		"resets in a while. Then resets in 3 days":   72 * time.Hour,
		"resets in about 2 hours":                    2 * time.Hour,
		"resets in 400 days":                         longestRest,
		"resets in 99999999999999999999 hours":       0, // no number that long is read
		"resets in 5 bananas":                        0,
		"resets in":                                  0,
		"resets in 1h2m":                             time.Hour + 2*time.Minute,
		"resets in 1..2s":                            0,
		"it resets at midnight, in 5 minutes":        0,
		"":                                           0,
		"quota 3h":                                   0,
	} {
		if got := resetsIn(body); got != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}

// TestSpelledTimes: what is written in any of the usual ways is read back.
func TestSpelledTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, m, s := rapid.IntRange(0, 700).Draw(t, "h"), rapid.IntRange(0, 59).Draw(t, "m"), rapid.IntRange(0, 59).Draw(t, "s")
		want := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
		units := rapid.SampledFrom([][3]string{{"h", "m", "s"}, {" hours", " minutes", " seconds"}, {"H", "M", "S"}, {" hrs", " mins", " secs"}}).Draw(t, "units")
		sep := rapid.SampledFrom([]string{" ", ", ", " and "}).Draw(t, "sep")
		text := rapid.StringMatching(`[a-z .:]{0,20}`).Draw(t, "before") + " resets in " + strconv.Itoa(h) + units[0] + sep + strconv.Itoa(m) + units[1] + sep + strconv.Itoa(s) + units[2] + rapid.SampledFrom([]string{"", ".", " (UTC)", `"}`}).Draw(t, "after")
		if got := resetsIn(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	})
}

// FuzzClassify: no body makes the table panic, cool where the status does not, or say
// that something takes longer than the longest.
func FuzzClassify(f *testing.F) {
	f.Add(400, "7", []byte(`{"error":{"message":"usage limit, resets in 1h"}}`))
	f.Add(429, "Fri, 01 May 2026 12:01:30 GMT", []byte(`[{"error":{"message":null,"code":429}}]`))
	f.Add(500, "", []byte(`{"error":{"type":"rate_limit_error","code":"insufficient_quota"}}`))
	f.Fuzz(func(t *testing.T, status int, after string, body []byte) {
		status = 100 + (status%500+500)%500
		got := classify(status, http.Header{"Retry-After": {after}}, body, time.Unix(1_800_000_000, 0))
		may := status == 401 || status == 402 || status == 403 || status == 429 || status == 400
		if got.Class.KeyFailure() && !may || got.Class.KeyFailure() && status == 400 && got.Class != Quota {
			t.Errorf("%d %q: %s", status, body, got.Class)
		}
		if got.RetryAfter < 0 || got.RetryAfter > longestRest || got.TooLarge && got.Class != BadRequest {
			t.Errorf("%d %q: %+v", status, body, got)
		}
		if w := within(body, time.Unix(0, 0)); w.Class == "" || w.Class == EmptyOrUnparsable {
			t.Errorf("%q: %+v", body, w)
		}
		c := cleaner{values: []string{"secret-key-1"}}
		if m := c.message(got); len(m) > maxMessage || !utf8.ValidString(m) || strings.Contains(m, "secret-key-1") {
			t.Errorf("%q", m)
		}
	})
}
