package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"cutroom"
	"cutroom/internal/store/storetest"
)

// The reference reads exports by the rules of docs/authority.md and by nothing of this
// package.
var (
	headerForm = regexp.MustCompile(`^\{"cutroom_audit":1,"chain":("(?:[^"\\]|\\.)+"),"first":([0-9]+),"before":"([^"\\]*)","last":([0-9]+),"hash":"([^"\\]*)","exported_at":(?:-?[1-9][0-9]*|0)\}$`)
	rowForm    = regexp.MustCompile(`^\{"hash":"([^"\\]*)","row":(\{.*\})\}$`)
	seqForm    = regexp.MustCompile(`,"seq":([0-9]+),"tool":`)
)

// wholeByReference says whether an export is whole.
func wholeByReference(text []byte) bool {
	body, ended := strings.CutSuffix(string(text), "\n")
	lines := strings.Split(body, "\n")
	h := headerForm.FindStringSubmatch(lines[0])
	if h == nil || !ended {
		return false
	}
	var chain string
	if json.Unmarshal([]byte(h[1]), &chain) != nil {
		return false
	}
	first, err1 := strconv.ParseInt(h[2], 10, 64)
	last, err2 := strconv.ParseInt(h[4], 10, 64)
	if err1 != nil || err2 != nil || h[2] != fmt.Sprint(first) || h[4] != fmt.Sprint(last) || first < 1 || int64(len(lines)-1) != last-first+1 {
		return false
	}
	before := h[3]
	begin := sha256.Sum256([]byte("cutroom audit 1\n" + chain))
	if first == 1 && before != hex.EncodeToString(begin[:]) {
		return false
	}
	for n, text := range lines[1:] {
		x := rowForm.FindStringSubmatch(text)
		if x == nil {
			return false
		}
		sum := sha256.Sum256([]byte(before + "\n" + x[2]))
		seq := seqForm.FindStringSubmatch(x[2])
		if seq == nil || seq[1] != fmt.Sprint(first+int64(n)) || hex.EncodeToString(sum[:]) != x[1] {
			return false
		}
		before = x[1]
	}
	return before == h[5]
}

// events draws events as callers may cause them.
func events(t *rapid.T) []cutroom.AuditEvent {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "ok", "edit.cut", "\u2028\x00\x7f", `\"<&>`, "\U0001F3AC", "\xff\xfe"}))
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) cutroom.AuditEvent {
		return cutroom.AuditEvent{
			At: time.UnixMilli(rapid.Int64Range(0, 1<<45).Draw(t, "at")), Type: cutroom.AuditType(text.Draw(t, "type")), Call: text.Draw(t, "call"),
			Principal: cutroom.Principal{Name: text.Draw(t, "name"), Role: cutroom.Role(text.Draw(t, "role"))}, Tool: text.Draw(t, "tool"),
			Revision: rapid.IntRange(0, 9).Draw(t, "revision"), Input: cutroom.DigestOf([]byte(text.Draw(t, "input"))), Reason: text.Draw(t, "reason"),
			Outcome: text.Draw(t, "outcome"), Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), Detail: text.Draw(t, "detail"),
		}
	}), 0, 8).Draw(t, "events")
}

// exported is an export of a chain of those events, made without a database.
func exported(t interface{ Fatal(...any) }, list []cutroom.AuditEvent) []byte {
	l := New(Options{})
	h := header{Version: exportVersion, Chain: "abc", First: 1, Before: genesis("abc"), Last: int64(len(list)), Exported: 1}
	h.Hash = h.Before
	var rows bytes.Buffer
	for n, e := range list {
		r := l.rowOf(e)
		r.Seq = int64(n) + 1
		text, err := r.canonical()
		if err != nil {
			t.Fatal(err)
		}
		h.Hash = link(h.Hash, text)
		if err := writeLine(&rows, line{h.Hash, text}); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := writeLine(&b, h); err != nil {
		t.Fatal(err)
	}
	return append(b.Bytes(), rows.Bytes()...)
}

// agree compares the reader with the reference.
func agree(t interface{ Fatalf(string, ...any) }, text []byte) bool {
	r, err := VerifyExport(bytes.NewReader(text))
	whole := wholeByReference(text)
	if whole != (err == nil && r.Valid) {
		t.Fatalf("the reference says whole: %v; found %+v, %v\n%s", whole, r.Faults, err, text)
	}
	return whole
}

// TestReaderAgreesWithReference: what is written is whole, whatever was in it; and after
// any damage both readers say the same.
func TestReaderAgreesWithReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := exported(t, events(t))
		if !agree(t, text) {
			t.Fatalf("an export is not whole:\n%s", text)
		}
		for range rapid.IntRange(1, 3).Draw(t, "how often") {
			text = damaged(t, text)
		}
		agree(t, text)
	})
}

// damaged is an export with one thing done to it.
func damaged(t *rapid.T, text []byte) []byte {
	text = bytes.Clone(text)
	lines := bytes.SplitAfter(text, []byte("\n"))
	pick := func(name string) int { return rapid.IntRange(0, len(lines)-1).Draw(t, name) }
	switch i, j := pick("line"), pick("other line"); rapid.SampledFrom([]string{"byte", "remove", "swap", "repeat", "cut", "insert"}).Draw(t, "damage") {
	case "byte":
		if len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "place")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		return text
	case "remove":
		lines[i] = nil
	case "swap":
		lines[i], lines[j] = lines[j], lines[i]
	case "repeat":
		lines[i] = bytes.Repeat(lines[i], 2)
	case "cut":
		return text[:rapid.IntRange(0, len(text)).Draw(t, "length")]
	case "insert":
		lines[i] = append([]byte(rapid.SampledFrom([]string{"\n", " ", "{}\n", "x"}).Draw(t, "what")), lines[i]...)
	}
	return bytes.Join(lines, nil)
}

// FuzzVerifyExport: no file makes the reader fail in another way than to say so, nor
// believe what the reference does not.
func FuzzVerifyExport(f *testing.F) {
	whole := exported(f, []cutroom.AuditEvent{deed(1), deed(2), deed(3)})
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(exported(f, nil))
	f.Add([]byte("{\"cutroom_audit\":1,\"chain\":\"c\",\"first\":9223372036854775807,\"before\":\"\",\"last\":9223372036854775806,\"hash\":\"\",\"exported_at\":0}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := VerifyExport(bytes.NewReader(text))
		if err != nil && cutroom.AsError(err).Code != cutroom.Invalid {
			t.Fatal(err)
		}
		agree(t, text)
	})
}

// FuzzReadAnchors: no file of anchors makes the reader fail, and what it takes for an
// anchor reads the same once it is written again.
func FuzzReadAnchors(f *testing.F) {
	f.Add([]byte("{\"at\":1,\"chain\":\"c\",\"hash\":\"" + genesis("c") + "\",\"mac\":\"\",\"seq\":3}\n"))
	f.Add([]byte("\n\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, _, err := ReadAnchors(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			line, err := a.line()
			if err != nil {
				t.Fatal(err)
			}
			if again, ok := parseAnchor(line); !ok || again != a {
				t.Fatalf("%+v became %+v", a, again)
			}
		}
	})
}

// TestExportOfADatabase: an export is whole by itself, whole or in part, and says what is
// wrong with the chain that it is of.
func TestExportOfADatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, open storetest.Open) {
		l, db := anchored(t, open)
		anchors, _, err := l.kept()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range []struct{ first, last, rows int64 }{{0, 0, 12}, {1, 12, 12}, {4, 9, 6}, {12, 0, 1}, {13, 0, 0}, {0, 99, 12}} {
			var b bytes.Buffer
			r, err := l.Export(t.Context(), &b, row.first, row.last)
			if err != nil || !r.Valid || r.Rows != row.rows {
				t.Fatalf("%v: %+v, %v", row, r, err)
			}
			again, err := VerifyExport(bytes.NewReader(b.Bytes()))
			if err != nil || !again.Valid || again.Rows != row.rows || !wholeByReference(b.Bytes()) {
				t.Errorf("%v: %+v, %v\n%s", row, again, err, b.Bytes())
			}
		}
		if _, err := l.Export(t.Context(), &bytes.Buffer{}, 20, 0); cutroom.AsError(err).Code != cutroom.Invalid {
			t.Errorf("rows that are not there: %v", err)
		}
		var whole bytes.Buffer
		if _, err := l.Export(t.Context(), &whole, 0, 0); err != nil {
			t.Fatal(err)
		}
		// What was exported is held against anchors: those of a forged chain do not fit.
		if r, err := VerifyExport(bytes.NewReader(whole.Bytes()), anchors...); err != nil || !r.Valid || r.Anchors != 2 {
			t.Errorf("%+v, %v", r, err)
		}
		cut := exported(t, []cutroom.AuditEvent{deed(1), deed(2)})
		forged := []Anchor{{Chain: "abc", Seq: 2, Hash: genesis("x")}, {Chain: "abc", Seq: 7, Hash: genesis("x")}}
		if r, err := VerifyExport(bytes.NewReader(cut), forged...); err != nil || sorted(found(r)) != "anchor@2 cut@3" {
			t.Errorf("%+v, %v", r, err)
		}
		must(t, db, `update audit_event set tool = 'x' where seq = 3`)
		var b bytes.Buffer
		r, err := l.Export(t.Context(), &b, 0, 0)
		if err != nil || found(r) != "changed@3" {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err := VerifyExport(&b); err != nil || found(r) != "changed@3" {
			t.Errorf("the export of a changed chain: %+v, %v", r, err)
		}
	})
}
