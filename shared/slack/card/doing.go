package card

import (
	"slices"
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

// doingHeads are the headings of what an agent asks for, by how it stands.
type doingHeads struct{ Asks, AsksText, Header, Running, Done, Failed, Unknown string }

func (d drawing) heads() doingHeads {
	if d.outside != nil {
		return d.calls.doingHeads
	}
	return d.talk.doingHeads
}

// doing draws what an agent asks for in its state: an action of a conversation, or a call of an outside agent, of which
// x has what both have.
func (d drawing) doing(x *conversation.Action) face {
	h, r := d.heads(), d.routeOfAction(x)
	d.settled = d.settled || x.Status != conversation.ActionPending
	d.done = d.outside != nil && x.Status == conversation.ActionSucceeded
	if line, colour := r.resting(); line != "" {
		return face{line, colour, nil}
	}
	passed := append(r.passed(), d.approvedBy(x))
	switch {
	case d.outside != nil && d.outside.Call.Unopened():
		return d.shownAction(x, h.Header, yellow).with(divider(), d.looking())
	case x.Status == conversation.ActionPending:
		return d.pending(x, r)
	case x.Status == conversation.ActionApproved:
		if d.outside != nil && d.outside.Call.Elsewhere {
			passed = append([]string{d.calls.Unused}, passed...)
		}
		return d.shownAction(x, h.Header+d.w.IsApproved, green).with(divider(), contextLine(passed...), d.stop(x))
	case x.Status == conversation.ActionExecuting:
		passed = append(passed, fill(d.talk.Since, "when", whenSet(x.StartedAt)))
		f := d.shownAction(x, h.Running, navy).with(d.tail(x)...).with(divider(), contextLine(passed...))
		if d.outside == nil {
			f = f.with(d.stop(x))
		}
		return f
	case x.Status == conversation.ActionSucceeded:
		return d.over(x, h.Done, green, passed)
	case x.Status == call.Granted:
		return d.over(x, d.calls.Granted, green, passed)
	case x.Outcome == conversation.OutcomeUnknown:
		return d.over(x, h.Unknown, red, passed)
	case x.Status == conversation.ActionFailed:
		return d.over(x, h.Failed, red, passed)
	}
	return d.withdrawn(x, r)
}

// routeOfAction says whom the settings or a rule ask.
func (d drawing) routeOfAction(x *conversation.Action) routed {
	if d.outside != nil {
		return d.routeOfCall()
	}
	r := d.route(&x.Gate, x.Status == conversation.ActionPending, d.t.Conversation.Origin())
	r.copies = d.t.CopiesOf(x.Key())
	return r
}

// pending draws what waits for people.
func (d drawing) pending(x *conversation.Action, r routed) face {
	b, text, why, notes := d.actionBody(x, maxPages).bounded(), "", "", []string(nil)
	var of explain.Asking = d.outside
	if d.outside != nil {
		text = fill(d.calls.AsksText, "agent", d.agent(), "what", d.does())
	} else {
		p, _ := d.read(x)
		of, text = d.t.Aggregate, fill(d.talk.AsksText, "n", x.Number)+d.actionMatter(x)
		why = explain.Unapprovable(p, d.w.Locale)
	}
	if x.Pushed != nil {
		notes = []string{d.w.surface().PushReaders(x)}
	}
	ask, _ := explain.AskOf(of, x.ActionID)
	_, nobody := r.left()
	asks := r.asking(ask, x.ActionID, &b, nobody || why != "", notes)
	f := face{text: text, colour: blue}.with(header(d.title(d.heads().Asks, x))).with(b.blocks...).
		with(sectionOf([]string{why})...).with(d.aboutAction(x)...).with(asks...)
	if why != "" {
		return f
	}
	return f.with(contextLine(d.follows(x, r, b.cut)))
}

// follows says what an approval does. What the card shows only in part, people read whole in its dialog.
func (d drawing) follows(x *conversation.Action, r routed, cut bool) string {
	once, where, text := d.talk.Approved, d.talk.Above, d.talk.Effect[x.ActionType]
	switch {
	case x.Pushed != nil:
		text = d.talk.Effect["push"]
	case d.outside != nil && d.outside.Call.Elsewhere:
		text = d.calls.There
	case d.outside != nil:
		text = d.calls.Here
	}
	if last := r.last(); last != "" {
		once = fill(d.talk.ApprovedLast, "stage", last)
	}
	if cut {
		where = fill(d.talk.Inside, "whole", d.w.Review)
	}
	return fill(text, "once", once, "where", where)
}

// stop is the button by which people cancel what is approved or runs.
func (d drawing) stop(x *conversation.Action) slack.Block {
	if d.outside != nil {
		c := explain.Cancels(d.w.Locale, call.Card)
		return slack.NewActionBlock(blockID(x.ActionID, 0), confirmed(button(d.talk.Cancel, CancelCall, x.ActionID,
			slack.StyleDanger), c.Title, c.Text, c.Yes, c.No))
	}
	w, text := d.talk, d.talk.ConfirmText
	if x.ActionType == conversation.ToolCall {
		text = w.ConfirmCall
	}
	return d.actions(confirmed(button(w.Cancel, CancelAction, x.ActionID, slack.StyleDanger), w.ConfirmTitle, text,
		w.ConfirmYes, w.ConfirmNo))
}

// shownAction draws what was decided on. Of what is long it shows only the beginning.
func (d drawing) shownAction(x *conversation.Action, title, colour string) face {
	b, title, most := d.actionBody(x, 1), d.title(title, x), 2
	if d.outside != nil {
		most = 3
	}
	f := face{text: title, colour: colour}.with(header(title)).with(b.blocks[:min(len(b.blocks), most)]...)
	if b.cut {
		f = f.with(contextLine(d.talk.Shortened))
	}
	return f.with(d.aboutAction(x)...)
}

// over draws what was done, or was begun and failed.
func (d drawing) over(x *conversation.Action, title, colour string, passed []string) face {
	ran := d.w.timed(x.StartedAt, x.CompletedAt, d.talk.Took, d.talk.Ended)
	if x.Ran() {
		title, colour = fill(d.talk.Ran, "code", *x.ExitCode), yellow
	}
	f, came := d.shownAction(x, title, colour), sectionOf(d.cameOf(x))
	if x.Pushed != nil { // its link says more than what it was asked for
		f.blocks = slices.Insert(f.blocks, 1, came...)
	} else {
		f = f.with(came...)
	}
	return d.withFiles(x, f.with(d.tail(x)...)).with(divider(), contextLine(append(passed, ran)...)).with(d.check(x)...)
}

// cameOf says what came of it.
func (d drawing) cameOf(x *conversation.Action) (lines []string) {
	w := d.talk
	switch unknown := x.Outcome == conversation.OutcomeUnknown; {
	case d.outside != nil && unknown:
		return []string{w.CheckCall}
	case d.outside != nil && x.Status == call.Granted:
		return []string{d.calls.Taken}
	case d.outside != nil && x.Status == conversation.ActionFailed:
		return []string{explain.CallReason(d.w.Locale, x.Error), inline(x.ErrorDetail, maxResult)}
	case d.outside != nil && d.outside.Call.ConfirmedBy != "":
		return []string{d.w.Arrived + " " + fill(d.w.Confirmed, "who", d.w.mention(d.outside.Call.ConfirmedBy))}
	case d.outside != nil && d.outside.Call.Result != nil:
		return []string{d.calls.Returned}
	case d.outside != nil:
		return nil
	case unknown && x.Pushed != nil && d.check(x) == nil:
		lines = append(lines, explain.Happened(w.PushUnknown))
	case unknown && x.Pushed != nil:
		lines = append(lines, w.PushUnknown)
	case unknown:
		lines = append(lines, w.CheckUnknown)
	case x.Status == conversation.ActionFailed && !x.Ran():
		lines = append(lines, explain.ActionReason(d.w.Locale, x.Error, ""))
	}
	lines = append(lines, x.Tests.Said(d.w.Locale))
	if x.CallResult != nil {
		lines = append(lines, fill(w.CallReturned, "bytes", conversation.Grouped(x.CallResult.Bytes)))
	}
	return append(slices.Concat(lines, d.pushed(x), d.filesChanged(x)), inline(x.ErrorDetail, maxResult))
}

func (d drawing) approvedBy(x *conversation.Action) string {
	if x.ApprovedBy == conversation.ApprovedByAuto {
		return fill(d.talk.ByRule, "when", whenSet(x.Gate.ApprovedAt))
	}
	return fill(d.w.ApprovedBy, "who", d.w.mention(x.Gate.ApprovedBy), "when", whenSet(x.Gate.ApprovedAt))
}

// withdrawn draws what was rejected, cancelled or has expired.
func (d drawing) withdrawn(x *conversation.Action, r routed) face {
	how, why := d.became(x)
	f := d.shownAction(x, d.heads().Header+how, grey)
	lines, begun := r.passed(), d.outside == nil && x.StartedAt != nil
	if begun {
		f = f.with(d.tail(x)...)
	}
	switch {
	case x.Late != nil:
		f = f.with(section(d.late(x)))
	case begun && (x.ActionType != conversation.ToolCall || x.Reads()):
		f = f.with(section(d.talk.Stopping))
	case begun:
		f = f.with(section(d.talk.CallGoesOn))
	}
	switch {
	case d.outside != nil:
	case x.Gate.ApprovedAt != nil && begun:
		lines = append(lines, d.approvedBy(x), fill(d.talk.Since, "when", when(*x.StartedAt)))
	case x.Gate.ApprovedAt != nil:
		lines = append(lines, d.approvedBy(x), d.talk.NotBegun)
	}
	return f.with(sectionOf(d.pushed(x))...).with(divider(), contextLine(append(lines, r.once(why))...))
}

// became says how what wasn't done ended, and by whom or why.
func (d drawing) became(x *conversation.Action) (how, line string) {
	switch by, at := d.w.mention(x.CancelledBy), whenSet(x.CompletedAt); {
	case x.CancelReason == conversation.ReasonRejected, x.CancelReason == call.ReasonDenied:
		return d.w.IsRejected, d.rejectedBy(aggregate.Verdict{RejectedBy: x.CancelledBy,
			RejectionReason: or(x.Gate.RejectionReason, x.ErrorDetail)})
	case x.CancelReason == conversation.ReasonExpired:
		return d.w.IsExpired, fill(d.talk.Expired, "when", at)
	case x.CancelReason == conversation.ReasonClosed, x.CancelReason == conversation.ReasonIdle:
		return d.w.IsCancelled, fill(d.talk.CancelledClosed, "when", at)
	case x.CancelReason == conversation.ReasonDeleted:
		return d.w.IsCancelled, fill(d.talk.CancelledDeleted, "when", at)
	case d.outside == nil, x.CancelReason == conversation.ReasonWithdrawn && x.CancelledBy != "":
		return d.w.IsCancelled, fill(d.talk.CancelledBy, "who", by, "when", at)
	case x.CancelReason == conversation.ReasonWithdrawn:
		return d.w.IsCancelled, fill(d.calls.ByAgent, "agent", d.agent(), "when", at)
	case x.Status == call.Refused:
		return d.w.IsUnrouted, d.w.surface().CallEnded(d.outside.Call)
	}
	return d.w.IsCancelled, d.w.surface().CallEnded(d.outside.Call)
}

// CancelCall is the action_id of the button that cancels a call which is stamped and not begun. The block_id of a
// call's buttons is blockID of the call's id.
const CancelCall = "cancel_call"

// callWords are the texts of a call's card.
type callWords struct {
	doingHeads
	Granted string

	Agent              string // who asks, and who answers for it
	Reason             string // in the agent's words
	Here               string // what an approval does
	There              string
	Tool               string // of a call that runs elsewhere
	Taken              string // what is known of a grant that was taken
	Unused             string // of one that wasn't
	Returned           string // there is a result
	ByAgent            string // the agent cancelled it
	Cancelled, Refused string // to who answers for the key: people did, or the rules
}

var callWordsOf = language.Catalog[callWords]{Files: &embedded, Folder: "texts/calls"}

func drawCall(a *call.Aggregate, around Around, s tenancy.Settings, locale string, now time.Time) drawing {
	return drawing{a: &task.Aggregate{}, outside: a, settings: s, w: wordsOf.In(locale), now: now, Around: around,
		calls: callWordsOf.In(locale), talk: conversationWordsOf.In(locale)}
}

// callFace draws the card c, or what its copy shows.
func (d drawing) callFace(c *aggregate.Card) face {
	d.copied(c)
	if d.outside.Call == nil {
		return face{text: d.calls.Header, colour: grey}.with(section(d.calls.Header))
	}
	return d.doing(d.outside.Call.Action())
}

// does says in a line what the call does.
func (d drawing) does() string {
	return Waits{Of: d.outside, Question: d.outside.Call.Asks()}.what(askWordsOf.In(d.w.Locale))
}

func (d drawing) routeOfCall() routed {
	x := d.outside.Call
	r := d.route(&x.Gate, d.outside.Asked(x.CallID).Open, x.Origin())
	r.copies = d.outside.CopiesOf(call.Key)
	r.Number, r.plain = x.DecisionNumber, x.Elsewhere
	return r
}

func (d drawing) agent() string {
	if d.outside.Call == nil {
		return d.w.None
	}
	return or(inline(d.outside.Call.KeyName, maxTool), d.w.None)
}

// asksFor says who asks, and who answers for it.
func (d drawing) asksFor() string {
	return fill(d.calls.Agent, "agent", d.agent(), "who", d.w.mention(d.outside.Head.Requester))
}

// callContent draws what the call does, in up to most sections.
func (d drawing) callContent(most int) body {
	x := d.outside.Call
	c, err := x.Content()
	if err != nil {
		return body{d.unread(x.Payload, most).blocks, true}
	}
	title := d.talk.Call
	if c.Elsewhere {
		title = d.calls.Tool
	}
	return d.callBody(c.Payload(), title, most)
}

// aboutCall says who asks and who answers for it, and why.
func (d drawing) aboutCall() []slack.Block {
	x, c := d.outside.Call, d.calls
	agent, again := "", d.w.surface().Again(d.outside.Call)
	if d.copy == nil { // whose first line says it
		agent = d.asksFor()
	}
	left := maxSection - units(agent+again+c.Reason)
	reason := ""
	if said := inline(x.Reason, min(left, 4*call.MaxReason)); said != "" {
		reason = fill(c.Reason, "text", said)
	}
	return sectionOf([]string{agent, reason, again})
}
