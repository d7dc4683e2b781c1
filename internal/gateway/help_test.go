package gateway

import (
	"log/slog"
	"time"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func now() time.Time { return time.Time{} }
