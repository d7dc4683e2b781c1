package redact

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
)

// Handler returns a handler that hands records to next with every secret masked: in the
// message, and in attributes whatever they are made of. Handlers of a Redactor are not
// put one over the other.
func (r *Redactor) Handler(next slog.Handler) slog.Handler {
	if h, ok := next.(handler); ok && (h.r == r || r == nil) {
		return next
	}
	return handler{r, next}
}

type handler struct {
	r    *Redactor
	next slog.Handler
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }
func (h handler) WithGroup(name string) slog.Handler             { return handler{h.r, h.next.WithGroup(name)} }

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.r, h.next.WithAttrs(h.attrs(attrs))}
}

func (h handler) Handle(ctx context.Context, rec slog.Record) error {
	safe := slog.NewRecord(rec.Time, rec.Level, h.r.Text(rec.Message), rec.PC)
	rec.Attrs(func(a slog.Attr) bool {
		safe.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, safe)
}

func (h handler) attrs(list []slog.Attr) []slog.Attr {
	safe := make([]slog.Attr, len(list))
	for i, a := range list {
		safe[i] = h.attr(a)
	}
	return safe
}

// attr masks one attribute. What is neither text nor number becomes the text that a log
// would make of it.
func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(h.attrs(v.Group())...)}
	case slog.KindString:
		return slog.String(a.Key, h.secretOr(a.Key, v.String()))
	case slog.KindAny:
		if v.Any() == nil {
			return a
		}
		if err, ok := v.Any().(error); ok {
			return slog.Any(a.Key, errors.New(h.r.Text(err.Error())))
		}
		return slog.String(a.Key, h.secretOr(a.Key, fmt.Sprintf("%+v", v.Any())))
	}
	return a
}

func (h handler) secretOr(key, text string) string {
	if text != "" && secretName(key) && !placeholder(text) {
		return mask(len(text))
	}
	return h.r.Text(text)
}
