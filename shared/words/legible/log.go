package legible

import (
	"context"
	"log/slog"
	"ringi/shared/words/language"
)

// Handler hides personal data in all logged texts and errors, then calls next.
func MaskingHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ next slog.Handler }

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	masked := slog.NewRecord(r.Time, r.Level, logged(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		masked.AddAttrs(attribute(a))
		return true
	})
	return h.next.Handle(ctx, masked)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.next.WithAttrs(each(attrs))}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.next.WithGroup(name)} }

func each(attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = attribute(a)
	}
	return out
}

// quoted matches the text that the standard library's parse errors quote: it may be a vendor's number, such as
// somebody's pay or telephone.
var quoted = language.Regexp{Text: `(json: cannot unmarshal number )[^ ]+|((?:strconv\.\w+: parsing|parsing time|invalid number literal, trying to unmarshal) )"(?:[^"\\]|\\.)*"`}

// logged returns a text as logs may contain it.
func logged(s string) string { return Mask(quoted.Get().ReplaceAllString(s, "$1$2…")) }

func attribute(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, logged(v.String()))
	case slog.KindGroup:
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(each(v.Group())...)}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, logged(err.Error()))
		}
	}
	return a
}
