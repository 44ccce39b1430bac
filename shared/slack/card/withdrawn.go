package card

import (
	"strings"

	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
)

// withdrawn draws an action that was rejected, cancelled or expired.
func (d conversationDrawing) withdrawn(x *conversation.Action, title string) face {
	w := d.w
	ending, why := w.IsCancelled,
		fill(d.texts.CancelledBy, "who", w.mention(x.CancelledBy), "when", whenSet(x.CompletedAt))
	switch x.CancelReason {
	case conversation.ReasonRejected:
		ending, why = w.IsRejected,
			fill(w.RejectedBy, "who", w.mention(x.CancelledBy), "reason", or(inline(x.ErrorDetail, maxReason), w.None))
	case conversation.ReasonDenied:
		ending, why = w.IsDenied,
			fill(w.DeniedBy, "who", w.mention(x.CancelledBy), "reason", or(inline(x.ErrorDetail, maxReason), w.None))
	case conversation.ReasonExpired:
		ending, why = w.IsExpired, fill(d.texts.Expired, "when", whenSet(x.CompletedAt))
	case conversation.ReasonAged:
		ending, why = w.IsExpired, d.texts.reason(x.CancelReason, "")
	case conversation.ReasonClosed, conversation.ReasonIdle:
		why = fill(d.texts.CancelledClosed, "when", whenSet(x.CompletedAt))
	case conversation.ReasonDeleted:
		why = fill(d.texts.CancelledDeleted, "when", whenSet(x.CompletedAt))
	default:
		why = or(RefusedByRule(x, d.w.surface()), why)
	}
	f := d.shown(x, title+ending, grey)
	if x.StartedAt != nil {
		f = f.with(d.tail(x, d.texts.Output)...)
		if x.Late == nil && (x.ActionType != conversation.ToolCall || x.Reads()) {
			f = f.with(section(d.texts.Stopping))
		}
	}
	if x.Late != nil {
		f = f.with(section(d.late(x)))
	}
	if ran := x.RanLines(d.w.Locale); len(ran) > 0 {
		f = f.with(section(cut(strings.Join(ran, "\n"), maxSection)))
	}
	if lines := d.pushed(x); lines != nil {
		f = f.with(section(strings.Join(lines, "\n")))
	}
	if x.Gate.ApprovedAt != nil {
		begun := d.texts.NotBegun
		if x.StartedAt != nil {
			begun = fill(d.texts.Since, "when", when(*x.StartedAt))
		}
		return f.with(divider(), contextLine(append(d.routeOf(x).passed(), d.approvedBy(x), begun, why)...))
	}
	return f.with(divider(), contextLine(append(d.routeOf(x).passed(), why)...))
}

// RefusedByRule says on any surface why nobody could be asked about an action; empty: that isn't why it ended.
func RefusedByRule(x *conversation.Action, on explain.Surface) string {
	if !x.RefusedByRule() {
		return ""
	}
	e := conversation.ErrByRules{Why: x.CancelReason, Detail: x.ErrorDetail}
	if x.Gate.Terms.Rule != nil {
		e.Rule = *x.Gate.Terms.Rule
	}
	return explain.RefusedByRules(on.Locale, e, on.Marks.Text, on.Marks.Person)
}

// late says what the result of an action was that came after its cancellation.
func (d conversationDrawing) late(x *conversation.Action) string {
	w, isCall := d.texts, x.ActionType == conversation.ToolCall
	if x.Late.Status != conversation.ActionSucceeded {
		switch unknown := x.Pushed == nil && x.Late.Error == conversation.ReasonUnknown; {
		case isCall && unknown:
			return w.CheckCall
		case unknown:
			return w.CheckUnknown
		case isCall && x.Pushed != nil && x.Late.Error != "": // a branch may be there
			return w.reason(x.Late.Error, "")
		case isCall:
			return w.LateCallFailed
		}
		return w.LateFailed
	}
	after := x.CompletedAt != nil && x.Late.At.After(*x.CompletedAt)
	text := w.LateDone
	switch {
	case isCall && after:
		text = w.LateCallAfter
	case isCall:
		text = w.LateCallDone
	case after:
		text = w.LateAfter
	}
	return fill(text, "when", when(x.Late.At))
}
