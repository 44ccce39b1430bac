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
	if strings.ContainsAny(detail, "。()") || strings.HasSuffix(detail, ".") {
		return detail + "\n" + fill(text, "detail", "")
	}
	return fill(text, "detail", w.detail(r, detail))
}

// detail puts a reason's detail in brackets: seconds for a timeout, two sums for a limit of costs.
func (w *words) detail(r task.Reason, detail string) string {
	spent, limit, sums := strings.Cut(detail, "/")
	switch {
	case detail == "":
		return ""
	case r == task.ReasonTimeout && strings.Trim(detail, "0123456789") == "":
		return fill(w.Seconds, "detail", detail)
	case r == task.ReasonStepsNotDone:
		return fill(w.Detail, "detail", fill(w.StepNumber, "step", detail))
	case r == task.ReasonCostLimit && sums:
		return fill(w.Spent, "spent", spent, "limit", limit)
	}
	return fill(w.Detail, "detail", detail)
}
