package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile is a line and what has to come back for it.
type hostile struct {
	text string
	id   string // of the answer: "" for none, "?" for one or none under any id
	code int    // of the error; 0 for a good answer
}

// hostiles are the ways of being wrong, each with a number that no other line has.
var hostiles = []func(r *rand.Rand, n int) hostile{
	func(r *rand.Rand, n int) hostile { // bytes changed
		b := []byte(goodCall(n))
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		return hostile{text: string(b), id: "?"}
	},
	func(r *rand.Rand, n int) hostile { // cut
		return hostile{goodCall(n)[:1+r.IntN(len(goodCall(n))-1)], "null", -32700}
	},
	func(_ *rand.Rand, n int) hostile { return hostile{goodCall(n) + goodCall(n), "null", -32700} },
	func(r *rand.Rand, _ int) hostile { // deep, and cut or not
		depth := maxDepth + 1 + r.IntN(50_000)
		return hostile{strings.Repeat(`{"a":`, depth) + strings.Repeat(`}`, r.IntN(2)*depth), "null", -32600}
	},
	func(r *rand.Rand, n int) hostile { // deep, behind an id
		depth := maxDepth + r.IntN(50_000)
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"a":%s`, n, strings.Repeat(`[`, depth)), fmt.Sprint(n), -32600}
	},
	func(r *rand.Rand, _ int) hostile { // a number without end
		id := "1" + strings.Repeat("0", maxID+r.IntN(100_000))
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id), "null", -32600}
	},
	func(r *rand.Rand, n int) hostile { // a long one that is an id
		id := fmt.Sprintf("%d%s", n, strings.Repeat("7", r.IntN(maxID-10)))
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id), id, 0}
	},
	func(r *rand.Rand, n int) hostile { // huge numbers where they do not matter
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":[1e%d,-%s]}}`, n, r.IntN(1_000_000), strings.Repeat("9", 1+r.IntN(5000))), fmt.Sprint(n), 0}
	},
	func(r *rand.Rand, n int) hostile {
		return hostile{`[` + strings.Repeat(goodCall(n)+",", r.IntN(20)) + goodCall(n) + `]`, "null", -32600}
	},
	func(r *rand.Rand, _ int) hostile { // cancels of what is not in flight
		return hostile{text: fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, oddValue(r))}
	},
	func(r *rand.Rand, _ int) hostile { // answers to what was not asked
		return hostile{text: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, oddValue(r), oddValue(r))}
	},
	func(r *rand.Rand, _ int) hostile { // notifications that nobody knows
		return hostile{text: fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%d","params":%s}`, r.Int(), oddValue(r))}
	},
	func(r *rand.Rand, n int) hostile {
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x/%s"}`, n, strings.Repeat("é", r.IntN(50_000))), fmt.Sprint(n), -32601}
	},
	func(r *rand.Rand, n int) hostile { // params of another type, which the SDK would quote
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":["%s"]}}`, n, strings.Repeat("secret", 1+r.IntN(1000))), fmt.Sprint(n), -32602}
	},
	func(r *rand.Rand, n int) hostile {
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, n, []string{`7`, `null`, `{}`, `[]`, `""`, `true`}[r.IntN(6)]), fmt.Sprint(n), -32600}
	},
	func(r *rand.Rand, _ int) hostile { // ids that are none
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, []string{`null`, `{}`, `[1]`, `true`}[r.IntN(4)]), "null", -32600}
	},
	func(r *rand.Rand, n int) hostile { // keys in other cases
		return hostile{fmt.Sprintf(`{"%s":"2.0","id":%d,"method":"ping"}`, []string{"JSONRPC", "jsonRpc", "json\u017fpc"}[r.IntN(3)], n), fmt.Sprint(n), -32600}
	},
	func(_ *rand.Rand, n int) hostile {
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","name":"wait"}}`, n), fmt.Sprint(n), -32600}
	},
	func(r *rand.Rand, n int) hostile { // longer than a line may be
		return hostile{fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":"ping","params":{"x":"%s"}}`, n, strings.Repeat("x", hostileMaxIn+r.IntN(hostileMaxIn))), fmt.Sprint(n), -32600}
	},
	func(r *rand.Rand, _ int) hostile { // not UTF-8, or not text
		return hostile{"{\"jsonrpc\":\"2.0\",\"x\":\"" + string([]byte{0xc0, byte(r.IntN(10)), 0xff, 0xed, 0xa0, 0x80}) + "\"}", "null", -32700}
	},
	func(r *rand.Rand, n int) hostile { // half a surrogate pair is a text yet
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"x":"\ud8%02x"}}}`, n, r.IntN(256)), fmt.Sprint(n), 0}
	},
	func(r *rand.Rand, n int) hostile { // a version of the protocol that is none
		return hostile{fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"3%d","io.modelcontextprotocol/clientCapabilities":{}}}}`, n, r.IntN(1000)), fmt.Sprint(n), -32022}
	},
	func(r *rand.Rand, _ int) hostile {
		return hostile{text: strings.Repeat([]string{" ", "\t", "\r", "\ufeff"}[r.IntN(4)], 1)}
	},
}

// hostileMaxIn keeps lines that are too long short enough for a test.
const hostileMaxIn = 1 << 20

func goodCall(n int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"n":%d},"_meta":{"progressToken":%d}}}`, n, n, n)
}

func oddValue(r *rand.Rand) string {
	return []string{`null`, `{}`, `[[]]`, `true`, `-0`, `1e999`, `1.5`, `""`, `"\u0000"`, fmt.Sprint(r.Int()), fmt.Sprintf("%q", strings.Repeat("x", r.IntN(3000)))}[r.IntN(11)]
}

// TestAThousandHostileMessages sends each kind many times. A ping behind each tells
// that nothing more comes back for it. Nothing runs beside it: the heap is everybody's.
func TestAThousandHostileMessages(t *testing.T) {
	c := dial(t, StdioOptions{MaxIn: hostileMaxIn}).open()
	r := rand.New(rand.NewPCG(1, 2))
	n := 1 << 20
	round := func(times int) {
		for i := range times * len(hostiles) {
			n++
			h := hostiles[i%len(hostiles)](r, n)
			h.text = strings.ReplaceAll(h.text, "\n", " ")
			c.send(h.text)
			c.judge(h, n)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	round(4) // buffers have their size then
	before := heap()
	round(1 + 1000/len(hostiles))
	// The bound is far below what a thousand of these messages have together.
	if after := heap(); after > before+4<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	c.alive(1)
}

// judge compares what comes back, up to a ping's answer, with what h wants.
func (c *client) judge(h hostile, n int) {
	c.t.Helper()
	end := fmt.Sprintf(`"end %d"`, n)
	c.send(`{"jsonrpc":"2.0","id":` + end + `,"method":"ping"}`)
	var got []answer
	for pinged := false; !pinged; {
		a := c.next()
		if pinged = string(a.ID) == end; !pinged {
			got = append(got, a)
		}
	}
	if h.id != "" && h.id != "?" && len(got) == 0 { // a call may be answered behind a ping
		got = append(got, c.next())
	}
	switch {
	case h.id == "?" && len(got) <= 1, h.id == "" && len(got) == 0:
		return
	case len(got) != 1:
		c.t.Errorf("%.200q: %d answers %+v", h.text, len(got), got)
		return
	}
	code := 0
	if got[0].Error != nil {
		code = got[0].Error.Code
		if len(got[0].Error.Message) > maxErrorText+10 || strings.Contains(got[0].Error.Message, "secret") {
			c.t.Errorf("%.200q: the answer quotes it: %.200s", h.text, got[0].Error.Message)
		}
	}
	if string(got[0].ID) != h.id || code != h.code {
		c.t.Errorf("%.200q: answered %.100s with %d, want %.100s with %d", h.text, got[0].ID, code, h.id, h.code)
	}
}

// FuzzStdio sends any bytes, in two sessions: before the handshake and behind it.
func FuzzStdio(f *testing.F) {
	for _, s := range []string{
		"hello", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[]`, "\ufeff{}", "\xff\xfe\n{", "\r\n\r\n\x00",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
		`{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}`,
		`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},7]`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e3}}`,
		`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, open bool) {
		c := dial(t, StdioOptions{MaxIn: 1 << 16})
		if open {
			c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
				`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		}
		if _, err := c.in.Write(append(data, '\n')); err != nil {
			t.Fatal(err)
		}
		c.send(`{"jsonrpc":"2.0","id":"the last","method":"ping"}`)
		for answered := false; !answered; {
			line := <-c.lines
			if !utf8.ValidString(line) || !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 {
				t.Fatalf("not a line of JSON: %q", line)
			}
			var a answer
			answered = json.Unmarshal([]byte(line), &a) == nil && string(a.ID) == `"the last"`
		}
		c.in.Close()
		if err := <-c.ended; err != nil {
			t.Error(err)
		}
	})
}

// FuzzRead compares what is read of one message with what the standard library makes
// of it.
func FuzzRead(f *testing.F) {
	for _, s := range []string{goodCall(1), `{"jsonrpc":"2.0","id":"\ud800","method":"a","params":{"_meta":{}}}`, `{"jsonrpc":"2.0","id":1.0,"result":{}}`, `[1,[2]]`, `{"id":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text := trimmed(data)
		if isBatch(text) {
			if all, f := elements(text); bounded(text) == nil && f == nil && !json.Valid(text) {
				t.Fatalf("%d elements of what is not JSON", len(all))
			}
			return
		}
		m, bad := read(text)
		_ = findID(text[:len(text)/2])
		if bad != nil {
			if !json.Valid(bad.line()) {
				t.Fatalf("%q", bad.line())
			}
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("read what is not JSON: %v", err)
		}
		if m.method == "" {
			return
		}
		var method string
		if err := json.Unmarshal(want["method"], &method); err != nil || method != m.method {
			t.Errorf("method %q, want %q, %v", m.method, method, err)
		}
		if !bytes.Equal(m.id, want["id"]) || m.params != nil && !bytes.Equal(m.params, want["params"]) {
			t.Errorf("id %s params %s", m.id, m.params)
		}
	})
}

// TestEqualIDsHaveOneName checks names of ids: equal for equal ids, different for
// others.
func TestEqualIDsHaveOneName(t *testing.T) {
	t.Parallel()
	id := rapid.OneOf(
		rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
		rapid.Map(rapid.Int64Range(-3, 3), func(n int64) string { return fmt.Sprint(exact + n) }),
		rapid.Map(rapid.Int64Range(-20, 20), func(n int64) string { return fmt.Sprintf("%d.0", n) }),
		rapid.StringMatching(`[1-9][0-9]{0,30}`),
		rapid.Map(rapid.SampledFrom([]string{"", "1", "number 1", "\x00", "\x00number 1", "\x00text 1", "\x00text \x00number 1"}), func(s string) string {
			b, _ := json.Marshal(s)
			return string(b)
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := id.Draw(t, "a"), id.Draw(t, "b")
		ka, oka := keyOf([]byte(a))
		kb, okb := keyOf([]byte(b))
		if !oka || !okb {
			t.Fatalf("%s, %s: no names", a, b)
		}
		same := strings.TrimSuffix(strings.Replace(a, "-0", "0", 1), ".0") == strings.TrimSuffix(strings.Replace(b, "-0", "0", 1), ".0")
		if (ka == kb) != same {
			t.Fatalf("%s and %s: %q and %q", a, b, ka.Raw(), kb.Raw())
		}
	})
}

// TestLinesAreWhatLiesBetweenEnds reads any bytes in any pieces.
func TestLinesAreWhatLiesBetweenEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 100_000).Draw(t, "most")
		var all []byte
		var want []int
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 200_000), 1, 5).Draw(t, "lengths") {
			all = append(append(all, bytes.Repeat([]byte("x"), n)...), '\n')
			want = append(want, n)
		}
		l := newLines(&pieces{bytes.NewReader(all), rapid.IntRange(1, 90_000).Draw(t, "piece")}, most)
		for _, n := range want {
			got, err := l.next()
			switch text := bytes.TrimRight(got.text, "\n"); {
			case err != nil:
				t.Fatal(err)
			case got.long != (n+1 > most+5), got.long && len(text) > beginning, !got.long && len(text) != n:
				t.Fatalf("a line of %d: long %v, %d bytes", n, got.long, len(text))
			}
		}
		if _, err := l.next(); err != io.EOF {
			t.Fatal(err)
		}
	})
}

// pieces gives at most n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p *pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }
