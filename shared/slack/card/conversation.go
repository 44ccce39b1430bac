package card

import (
	"encoding/json"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/legible"
)

// Conversation is a conversation's rows with the large values that its cards show.
type Conversation struct {
	*conversation.Aggregate
	Message *conversation.Message   // the card's message; nil until it is read
	Payload json.RawMessage         // the action's payload, if it is too large for its row
	Log     []conversation.LogEntry // the last lines of the action's output
	MaySend bool                    // the app may send files to Slack
	Console string                  // the console's address; empty: no links
}

// The action_ids of the buttons on the cards of actions and conversations. block_id is blockID of the conversation's id. An
// action's value is its id, a slash, and the hash of what people approve.
const (
	ApproveAction      = "approve_action"
	RejectAction       = "reject_action"
	CancelAction       = "cancel_action"
	OpenActionReview   = "review_action"
	ReopenConversation = "reopen_session"
	BeginEmpty         = "begin_empty"
	CheckAction        = "check_action"
	FetchAgain         = "fetch_again"
	TakeFiles          = "take_files" // on the console's page alone
	MakeRequest        = "make_request"
	SendFiles          = "send_files"
)

const TailLines = 10

// RenderConversation draws a card of a conversation. To compute a card's hash callers need not read messages and
// payloads, which never change. The output of a running action does change.
func RenderConversation(t Conversation, c *aggregate.Card, s tenancy.Settings, now time.Time) Message {
	locale := t.locale(s)
	d := drawingOf(t, s, locale, now)
	d.copied(c, t.Copies)
	switch c.CardType {
	case conversation.CardAction:
		if x := aggregate.Find(t.Actions, c.Subject); x != nil {
			return d.action(x).message()
		}
		return face{text: d.texts.Action, colour: grey}.with(section(d.texts.Action)).message()
	case conversation.CardOffered:
		return d.offered(aggregate.Find(t.Offered, c.Subject)).message()
	case conversation.CardSession:
		return d.ended().message()
	}
	return face{text: d.said(c.Subject)}.message()
}

// locale is the conversation's language, or the tenant's if the conversation has none.
func (t Conversation) locale(s tenancy.Settings) string {
	if t.Conversation != nil && t.Conversation.Locale != "" {
		return t.Conversation.Locale
	}
	return s.Locale
}

type conversationDrawing struct {
	drawing
	t     Conversation
	texts *conversationWords
}

func drawingOf(t Conversation, s tenancy.Settings, locale string, now time.Time) conversationDrawing {
	of := drawing{a: &task.Aggregate{}, settings: s, w: wordsOf.In(locale), now: now}
	return conversationDrawing{drawing: of, t: t, texts: conversationWordsOf.In(locale)}
}

func (d conversationDrawing) actions(buttons ...slack.BlockElement) slack.Block {
	return slack.NewActionBlock(ident(d.t.Head.SessionID), buttons...)
}

// said draws the part of a message that a card shows.
func (d conversationDrawing) said(subject string) string {
	key, part := conversation.OfMessage(subject)
	m := d.t.Message
	if m == nil {
		return key
	}
	if m.Content == "" {
		return d.texts.reason(m.Reason, inline(m.Detail, maxDetail))
	}
	parts := conversation.Parts(m.Content)
	if part < 0 || part >= len(parts) {
		return d.w.None
	}
	text := or(said(parts[part]), d.w.None)
	if m.Sender == conversation.FromSystem {
		text = "_" + d.texts.System + "_ " + text
		if m.For != "" {
			text = d.w.mention(m.For) + " " + text
		}
	}
	s := d.t.Conversation
	if m.Reason == conversation.ReasonShownTo && s != nil {
		text += "\n" + d.places(s.ShownTo)
	}
	if m.Reason == conversation.ReasonSourceThere && s != nil && s.Source != nil && s.Source.URL() != "" {
		text += "\n<" + s.Source.URL() + "|" + inline(s.Source.Short(), maxDetail) + ">"
	}
	return text
}

// offered draws a request that the agent wants to make, or that somebody made of it.
func (d conversationDrawing) offered(o *conversation.Offered) face {
	w := d.texts
	if o == nil {
		return face{text: w.OfferGone, colour: grey}.with(section(w.OfferGone))
	}
	if o.MadeAt != nil {
		by := fill(w.OfferMadeBy, "who", d.w.mention(o.MadeBy), "when", whenSet(o.MadeAt))
		return face{text: w.OfferMade, colour: green}.
			with(section(w.OfferMade)).with(d.madeOf(o)...).with(contextLine(by))
	}
	b := d.packed(d.written(o.Text), maxPages).bounded()
	f := face{text: w.Offer, colour: blue}.with(section(w.Offer)).with(b.blocks...)
	switch {
	case d.t.OpenOffer() == nil:
		return f.with(contextLine(w.OfferClosed))
	case b.cut:
		return f.with(contextLine(w.OfferLong))
	}
	return f.with(contextLine(fill(w.OfferWho, "who", d.w.mention(o.User))),
		d.actions(button(w.OfferMake, MakeRequest, o.ID, slack.StylePrimary)))
}

// madeOf returns the beginning of the text that became a request, as long as its row is there.
func (d conversationDrawing) madeOf(o *conversation.Offered) []slack.Block {
	for _, h := range d.t.Handed {
		if h.TaskID != o.TaskID {
			continue
		}
		short := legible.First(h.Text, maxAbout)
		blocks := sectioned(d.written(short)...)
		if short != h.Text {
			blocks = append(blocks, contextLine(d.texts.Shortened))
		}
		return blocks
	}
	return nil
}

// ended draws the card of a closed conversation. Its button is gone once the conversation is open again, or forgotten.
func (d conversationDrawing) ended() face {
	s, w := d.t.Conversation, d.texts
	if s == nil || s.Status != conversation.Closed {
		return face{text: w.Reopened, colour: grey}.with(contextLine(w.Reopened))
	}
	why := fill(w.ClosedBy, "who", d.w.mention(s.ClosedBy), "when", whenSet(s.ClosedAt))
	if s.CloseReason == conversation.ReasonIdle {
		why = fill(w.ClosedIdle, "days", s.IdleDays, "when", whenSet(s.ClosedAt))
	}
	lines := []string{why, w.readers(s)}
	if at := d.t.Head.ForgottenAt; at != nil {
		forgets := fill(w.Forgets, "when", whenSet(at))
		if d.t.Head.Forgotten(d.now) {
			return face{text: w.Gone, colour: grey}.with(section(w.Gone), contextLine(why, forgets))
		}
		lines = append(lines, forgets)
	}
	return face{text: w.Closed, colour: grey}.with(
		section(w.Closed), d.actions(button(w.Begin, ReopenConversation, s.ID, slack.StylePrimary)), contextLine(lines...),
	)
}

// readers says who can read a conversation, by the rule of its page.
func (w *conversationWords) readers(s *conversation.Conversation) string {
	if s.ChannelType == "im" {
		return w.ReadDirect
	}
	return w.ReadHere
}

// read decodes the action's payload. It returns false if the payload is missing or doesn't match its type.
func (d conversationDrawing) read(x *conversation.Action) (conversation.Payload, bool) {
	text := []byte(x.Payload.JSON)
	if len(text) == 0 {
		text = d.t.Payload
	}
	p, problems := conversation.ReadKept(x.ActionType, text)
	return p, len(problems) == 0
}
