package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/reason"
)

// Sentence says what happened and what people can do now; see reason.Sentence. The
// detail can't format, link or mention.
func Sentence(locale string, r aggregate.Reason, detail string) string {
	return reason.Sentence(locale, r, inline(detail, maxDetail))
}

func (w *words) sentence(r aggregate.Reason, detail string) string {
	return Sentence(w.Locale, r, detail)
}

// detail is a reason's detail in brackets.
func (w *words) detail(r aggregate.Reason, detail string) string {
	return reason.Detail(w.Locale, r, detail)
}
