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

// CancelCall is the action_id of the button that cancels a call which is stamped and not begun. The block_id of a
// call's buttons is blockID of the call's id.
const CancelCall = "cancel_call"

// callWords are the texts of a call's card.
type callWords struct {
	doingHeads
	Granted string

	Agent              string // who asks, and who answers for it
	Reason             string // in the agent's words
	NoReason           string
	Here               string // what an approval does
	There              string
	Tool               string // of a call that runs elsewhere
	Taken              string // what is known of a grant that was taken
	Unused             string // of one that wasn't
	Made               string // what the result names
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

const maxMade = 400 // characters of what a call made

// callMade names what the call made, unless what it returned is large.
func (d drawing) callMade() string {
	x := d.outside.Call
	if x.Result == nil {
		return ""
	}
	is, err := conversation.ReadCallResult([]byte(x.Result.JSON))
	if err != nil {
		return ""
	}
	if made := explain.Made(d.w.Locale, aggregate.JSON(is.Value)); made != "" {
		return fill(d.calls.Made, "text", inline(made, maxMade))
	}
	return ""
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
	x, c, reason := d.outside.Call, d.calls, d.calls.NoReason
	agent, again := d.asksFor(), d.w.surface().Again(d.outside.Call)
	left := maxSection - units(agent+again+c.Reason)
	if said := inline(x.Reason, min(left, 4*call.MaxReason)); said != "" {
		reason = fill(c.Reason, "text", said)
	}
	return sectionOf([]string{agent, reason, again})
}
