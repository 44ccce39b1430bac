package card

import (
	"strings"

	"ringi/shared/task"
)

// Sentence says what happened and what people can do now. The detail (a tool, a
// step, seconds for a timeout) is put in brackets, one that is said in sentences on a
// line before; it may be empty. A reason that is not known is said to be our own fault.
func Sentence(locale string, r task.Reason, detail string) string {
	return wordsOf(locale).sentence(r, detail)
}

func (w *words) sentence(r task.Reason, detail string) string {
	text, ok := w.Reasons[r]
	if !ok {
		text = w.Reasons[task.ReasonRunFailed]
	}
	detail = inline(detail, maxDetail)
	switch {
	case detail == "":
	case strings.ContainsAny(detail, "。()") || strings.HasSuffix(detail, "."):
		return detail + "\n" + fill(text, "detail", "")
	case r == task.ReasonTimeout && strings.Trim(detail, "0123456789") == "":
		detail = fill(w.Seconds, "detail", detail)
	default:
		detail = fill(w.Detail, "detail", detail)
	}
	return fill(text, "detail", detail)
}
