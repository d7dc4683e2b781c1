package stage

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A document is what is kept under a MAC. Its text is RFC 8785 canonical JSON with
// a member "mac": HMAC-SHA256 over the kind, a newline and the canonical text
// without that member.
type document interface {
	mac() string
	setMAC(string)
}

// maxDocument bounds what is read back: results with very long outputs keep them
// as artifacts.
const maxDocument = 64 << 20

var errForged = errors.New("its record was not written by this installation, or was changed")

// sealText returns the text of v, with its MAC set.
func sealText(key []byte, kind string, v document) ([]byte, error) {
	v.setMAC("")
	bare, err := canonical(v)
	if err != nil {
		return nil, err
	}
	v.setMAC(macOf(key, kind, bare))
	return withMAC(bare, v.mac())
}

// withMAC puts the mac member where canonical order wants it: before the first
// member with a greater name (names of ours are ASCII, so bytes compare as RFC
// 8785 asks).
func withMAC(bare []byte, mac string) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(bare))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return nil, fmt.Errorf("encode a record: not an object: %w", err)
	}
	at, before, after := 1, "", ","
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, fmt.Errorf("encode a record: %w", err)
		}
		if name.String() > "mac" {
			break
		}
		if err := dec.SkipValue(); err != nil {
			return nil, fmt.Errorf("encode a record: %w", err)
		}
		at, before, after = int(dec.InputOffset()), ",", ""
	}
	if at == 1 && len(bare) == len("{}") {
		after = ""
	}
	return slices.Concat(bare[:at], []byte(before+`"mac":"`+mac+`"`+after), bare[at:]), nil
}

// unsealText reads text into v if its MAC is right. Nothing but whole members of
// a text that was signed can pass: the MAC covers the bytes as they stand, cut
// only by the mac member itself, whose quotes no JSON string can contain.
func unsealText(key []byte, kind string, text []byte, v document) error {
	if err := json.Unmarshal(text, v, json.RejectUnknownMembers(true)); err != nil {
		return errForged
	}
	member := []byte(`"mac":"` + v.mac() + `"`)
	at := bytes.Index(text, member)
	if len(v.mac()) != 2*sha256.Size || at < 0 {
		return errForged
	}
	head, tail := text[:at], text[at+len(member):]
	if rest, ok := bytes.CutPrefix(tail, []byte(",")); ok {
		tail = rest
	} else {
		head = bytes.TrimSuffix(head, []byte(","))
	}
	want := macOf(key, kind, head, tail)
	if !hmac.Equal([]byte(want), []byte(v.mac())) {
		return errForged
	}
	return nil
}

func macOf(key []byte, kind string, parts ...[]byte) string {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, kind+"\n")
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonical returns v as RFC 8785 JSON.
func canonical(v any) ([]byte, error) {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	text := jsontext.Value(b)
	if err := text.Canonicalize(); err != nil {
		return nil, fmt.Errorf("encode a record: %w", err)
	}
	return text, nil
}

// exactNumbers refuses whole numbers that RFC 8785 would change: beyond 2^53 it
// merges neighbours.
func exactNumbers(text []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		tok, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if tok.Kind() != '0' {
			continue
		}
		s := tok.String()
		if bytes.ContainsAny([]byte(s), ".eE") {
			continue
		}
		if n, err := strconv.ParseInt(s, 10, 64); err != nil || n > 1<<53 || n < -1<<53 {
			return fmt.Errorf("the whole number %s is beyond 2^53", s)
		}
	}
}
