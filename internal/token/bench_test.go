package token

import (
	"testing"
	"time"

	"cutroom"
	"cutroom/internal/store/storetest"
)

func BenchmarkVerify(b *testing.B) {
	s := newSafe(storetest.At(b, b.TempDir()+"/a.db"))
	text, _, err := s.Create(b.Context(), cutroom.Operator, Token{Principal: cutroom.Agent, Scopes: []string{MCP}}, time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := s.Verify(b.Context(), text, MCP); err != nil {
			b.Fatal(err)
		}
	}
}
