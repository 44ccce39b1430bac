package card

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/ended"
)

// Sentence says what happened and what people can do now; see reason.Sentence. The
// detail can't format, link or mention.
func Sentence(locale string, r aggregate.Reason, detail string) string {
	return ended.Sentence(locale, r, inline(detail, maxDetail))
}

func (w *words) sentence(r aggregate.Reason, detail string) string {
	return Sentence(w.Locale, r, detail)
}

// detail is a reason's detail in brackets.
func (w *words) detail(r aggregate.Reason, detail string) string {
	return ended.Detail(w.Locale, r, detail)
}
