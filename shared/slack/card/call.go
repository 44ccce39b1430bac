package card

import (
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// The action_ids of a call's buttons. block_id is blockID of the call's id, and a value that id, a slash, and the hash
// of what people approve.
const (
	approveCall = "approve_call"
	rejectCall  = "reject_call"
	// CancelCall cancels a call that waits, or is stamped and not begun.
	CancelCall = "cancel_call"
)

// callWords are the texts of a call's card.
type callWords struct {
	Asks, AsksText, Header, Running, Done, Granted, Failed, Unknown string

	Agent                                  string // who asks, and who answers for it
	Reason                                 string // in the agent's words
	NoReason                               string
	Here                                   string // what an approval does
	There                                  string
	Tool                                   string // of a call that runs elsewhere
	Again                                  string // it is meant to be made once more, and how the first ended
	AgainMade, AgainRejected, AgainUnknown string
	Taken                                  string // what is known of a grant that was taken
	Unused                                 string // of one that wasn't
	Made                                   string // what the result names
	ByAgent                                string // the agent cancelled it
	Cancelled, Refused                     string // to who answers for the key: people did, or the rules
	Reasons                                map[aggregate.Reason]string
}

var callWordsOf = language.Catalog[callWords]{Files: &embedded, Folder: "texts/calls"}

type callDrawing struct {
	drawing
	a     *call.Aggregate
	c     *callWords
	texts *conversationWords
}

func drawCall(a *call.Aggregate, around Around, s tenancy.Settings, locale string, now time.Time) callDrawing {
	return callDrawing{drawing: drawing{a: &task.Aggregate{}, settings: s, w: wordsOf.In(locale), now: now,
		Around: around},
		a: a, c: callWordsOf.In(locale), texts: conversationWordsOf.In(locale)}
}

// CallCard draws the card of a call that an outside agent asks for, or a copy of it.
func CallCard(a *call.Aggregate, c *aggregate.Card, s tenancy.Settings, around Around, now time.Time) Message {
	locale := s.Locale
	if a.Call != nil && a.Call.Locale != "" {
		locale = a.Call.Locale
	}
	return drawCall(a, around, s, locale, now).of(c).message()
}

// of draws the card c, or what its copy shows.
func (d callDrawing) of(c *aggregate.Card) face {
	d.copied(c, d.a.Copies)
	return d.face()
}

// does says in a line what the call does.
func (d callDrawing) does() string {
	return Waits{Of: d.a, Question: d.a.Call.Asks()}.what(askWordsOf.In(d.w.Locale))
}

func (d callDrawing) route() routed {
	x := d.a.Call
	r := d.drawing.route(&x.Gate, d.a.IsOpen(x.CallID), x.Origin())
	r.copies = d.a.CopiesOf(call.Key)
	r.number, r.plain = x.DecisionNumber, x.Elsewhere
	return r
}

func (d callDrawing) face() face {
	x := d.a.Call
	if x == nil {
		return face{text: d.c.Header, colour: grey}.with(section(d.c.Header))
	}
	r := d.route()
	approved := fill(d.w.ApprovedBy, "who", d.w.mention(x.Gate.ApprovedBy), "when", whenSet(x.Gate.ApprovedAt))
	over := func(title, colour string, lines ...string) face {
		took := d.w.timed(x.StartedAt, x.CompletedAt, d.texts.Took, d.texts.Ended)
		return d.shown(title, colour).with(sectionOf(lines)...).with(divider(), contextLine(append(r.passed(), approved,
			took)...))
	}
	if line, colour := r.resting(); line != "" {
		return face{line, colour, nil}
	}
	switch {
	case x.Unopened():
		return d.shown(d.c.Header, yellow).with(divider(), d.looking())
	case x.Status == conversation.ActionPending:
		return d.pending(r)
	case x.Status == conversation.ActionApproved:
		f := d.shown(d.c.Header+d.w.IsApproved, green).with(divider(),
			slack.NewActionBlock(blockID(x.CallID, 0), d.cancel(slack.StyleDanger)),
			contextLine(append(r.passed(), approved)...))
		if x.Elsewhere {
			return f.with(contextLine(d.c.Unused))
		}
		return f
	case x.Status == conversation.ActionExecuting:
		return d.shown(d.c.Running, navy).with(divider(), contextLine(append(r.passed(), approved,
			fill(d.texts.Since, "when", whenSet(x.StartedAt)))...))
	case x.Status == conversation.ActionSucceeded:
		return over(d.c.Done, green, d.made())
	case x.Status == call.Granted:
		return over(d.c.Granted, green, d.c.Taken)
	case x.Outcome == conversation.OutcomeUnknown:
		return over(d.c.Unknown, red, d.texts.CheckCall)
	case x.Status == conversation.ActionFailed:
		return over(d.c.Failed, red, CallReason(d.w.Locale, x.Error), inline(x.ErrorDetail, maxResult))
	}
	return d.ended(r)
}

// made names what the call made, unless what it returned is large.
func (d callDrawing) made() string {
	x := d.a.Call
	if x.Result == nil {
		return ""
	}
	is, err := conversation.ReadCallResult([]byte(x.Result.JSON))
	if err != nil {
		return ""
	}
	if all := Made(d.w.Locale, aggregate.JSON(is.Value)); len(all) > 0 {
		return fill(d.c.Made, "text", inline(MadeBy(all), 2*mostMade))
	}
	return ""
}

// ended draws a call that was rejected, cancelled or has expired.
func (d callDrawing) ended(r routed) face {
	how, line := d.became()
	return d.shown(d.c.Header+how, grey).with(divider(), contextLine(append(r.passed(), line)...))
}

// became says how a call ended that wasn't made, and by whom or why.
func (d callDrawing) became() (how, line string) {
	x := d.a.Call
	switch by, at := d.w.mention(x.CancelledBy), whenSet(x.CompletedAt); {
	case x.CancelReason == conversation.ReasonRejected, x.CancelReason == call.ReasonDenied:
		return d.w.IsRejected, fill(d.w.RejectedBy, "who", by, "reason", inline(x.Gate.RejectionReason, maxReason))
	case x.CancelReason == conversation.ReasonWithdrawn && x.CancelledBy == "":
		return d.w.IsCancelled, fill(d.c.ByAgent, "agent", d.agent(), "when", at)
	case x.CancelReason == conversation.ReasonWithdrawn:
		return d.w.IsCancelled, fill(d.texts.CancelledBy, "who", by, "when", at)
	case x.CancelReason == conversation.ReasonExpired:
		return d.w.IsExpired, fill(d.texts.Expired, "when", at)
	}
	if x.Status == call.Refused {
		return d.w.IsUnrouted, CallEnded(x, d.w.surface())
	}
	return d.w.IsCancelled, CallEnded(x, d.w.surface())
}

func (d callDrawing) agent() string {
	if d.a.Call == nil {
		return d.w.None
	}
	return or(inline(d.a.Call.KeyName, maxTool), d.w.None)
}

// from says who asks, and who answers for it.
func (d callDrawing) from() string {
	return fill(d.c.Agent, "agent", d.agent(), "who", d.w.mention(d.a.Head.Requester))
}

func (d callDrawing) pending(r routed) face {
	x, b := d.a.Call, d.body(maxPages).bounded()
	value := x.CallID + "/" + d.a.AskedHash(x.CallID)
	yes, no := d.decision(approveCall, rejectCall, value)
	buttons := []slack.BlockElement{yes}
	if _, nobody := r.left(); nobody {
		buttons = nil
	} else if b.cut { // people can't approve a call that its card shows only in part
		buttons = []slack.BlockElement{button(d.w.Review, ReviewAction+string(call.Card), x.CallID, slack.StylePrimary)}
		b.blocks = append(b.blocks, contextLine(d.w.NotWhole))
	}
	buttons = append(buttons, no, button(more, MoreAction+string(call.Card), value, ""))
	f := face{text: fill(d.c.AsksText, "agent", d.agent(), "tool", inline(x.Tool, maxTool)), colour: blue}.
		with(header(d.c.Asks)).with(b.blocks...).with(d.about()...)
	return f.with(divider()).with(r.waits()...).with(slack.NewActionBlock(blockID(x.CallID, r.State.Present), buttons...),
		contextLine(d.effect(r, b.cut)))
}

// effect says what an approval does.
func (d callDrawing) effect(r routed, cut bool) string {
	once, where, text := d.texts.Approved, d.texts.Above, d.c.Here
	if last := r.last(); last != "" {
		once = fill(d.texts.ApprovedLast, "stage", last)
	}
	if cut {
		where = fill(d.texts.Inside, "whole", d.w.Review)
	}
	if d.a.Call.Elsewhere {
		text = d.c.There
	}
	return fill(text, "once", once, "where", where)
}

func (d callDrawing) cancel(style slack.Style) slack.BlockElement {
	c := explain.Cancels(d.w.Locale, call.Card)
	return confirmed(button(d.texts.Cancel, CancelCall, d.a.Call.CallID, style), c.Title, c.Text, c.Yes, c.No)
}

// body draws what the call does, in up to most sections.
func (d callDrawing) body(most int) body {
	x := d.a.Call
	c, err := x.Content()
	if err != nil {
		return body{d.unread(x.Payload, most).blocks, true}
	}
	step, title := CalledStep(c.Payload()), d.texts.Call
	if c.Elsewhere {
		title = d.c.Tool
	}
	title = fill(title, "tool", inlineCode(c.Tool), "kind", CallKind(c.Access, d.w.Locale))
	out, _ := d.call(step, aggregate.Blob{JSON: step.ToolInput, Bytes: len(step.ToolInput)}, most)
	return out.with(small([]string{title}))
}

// again says of a call that is asked for once more how the first ended.
func (d callDrawing) again(was *call.Was) string {
	switch {
	case was == nil:
		return d.c.Again
	case was.Unknown:
		return d.c.AgainUnknown
	case was.By != "":
		return fill(d.c.AgainRejected, "who", d.w.mention(was.By), "text", or(inline(was.Why, maxAbout), d.w.None))
	case was.Status == call.Granted || was.Status == conversation.ActionSucceeded:
		return d.c.AgainMade
	}
	return d.c.Again
}

// about says who asks and who answers for it, and why.
func (d callDrawing) about() []slack.Block {
	x, c, again, reason := d.a.Call, d.c, "", d.c.NoReason
	agent := d.from()
	if x.Again != "" {
		again = d.again(x.Was)
	}
	left := maxSection - units(agent+again+c.Reason)
	if said := inline(x.Reason, min(left, 4*call.MaxReason)); said != "" {
		reason = fill(c.Reason, "text", said)
	}
	return sectionOf([]string{agent, reason, again})
}

// shown draws a call that was decided on. Of a long one it shows only the beginning.
func (d callDrawing) shown(title, colour string) face {
	d.settled = d.a.Call.Status != conversation.ActionPending
	d.done = d.a.Call.Status == conversation.ActionSucceeded
	b := d.body(1)
	f := face{text: title, colour: colour}.with(header(title)).with(b.blocks[:min(len(b.blocks), 3)]...)
	if b.cut {
		f = f.with(contextLine(d.texts.Shortened))
	}
	return f.with(d.about()...)
}
