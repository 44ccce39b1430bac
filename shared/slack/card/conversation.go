package card

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// Conversation is a conversation's rows with the large values that its cards show.
type Conversation struct {
	*conversation.Aggregate
	Message *conversation.Message   // the card's message; nil until it is read
	Payload json.RawMessage         // the action's payload, if it is too large for its row
	Log     []conversation.LogEntry // the last lines of the action's output
	Around
}

// The action_ids of buttons. block_id is blockID of the conversation's id, an action's value its id, a slash, and the
// hash of what people approve.
const (
	ApproveAction      = "approve_action"
	RejectAction       = "reject_action"
	CancelAction       = "cancel_action"
	ReopenConversation = "reopen_session"
	CheckAction        = "check_action"
	MakeRequest        = "make_request"
)

const TailLines = 10

// ConversationOf returns a conversation with the large values that were read of it.
func ConversationOf(of aggregate.Aggregate) Conversation {
	if t, is := of.(Conversation); is {
		return t
	}
	a, _ := of.(*conversation.Aggregate)
	return Conversation{Aggregate: a}
}

func (d drawing) talkFace(c *aggregate.Card) face {
	switch c.CardType {
	case conversation.CardOffered:
		return d.offered(aggregate.Find(d.t.Offered, c.Subject))
	case conversation.CardSession:
		return d.talkEnded()
	}
	if x := aggregate.Find(d.t.Actions, c.Subject); x != nil {
		return d.doing(x)
	}
	return face{text: d.talk.Action, colour: grey}.with(section(d.talk.Action))
}

// locale is the conversation's language, or the tenant's if the conversation has none.
func (t Conversation) locale(s tenancy.Settings) string {
	if t.Conversation != nil && t.Conversation.Locale != "" {
		return t.Conversation.Locale
	}
	return s.Locale
}

// drawingOf draws in a conversation's language, a dialog in the person's.
func drawingOf(t Conversation, s tenancy.Settings, now time.Time, person ...string) drawing {
	locale := t.locale(s)
	if person != nil {
		locale = person[0]
	}
	return drawing{a: &task.Aggregate{}, t: t, settings: s, w: wordsOf.In(locale), talk: conversationWordsOf.In(locale),
		now: now, Around: t.Around}
}

// The waiting line names the newest files, each by so many characters at most.
const mostReading, maxReading = 3, 60

// AgentReads says, after the app's name, which files the agent reads for the answer that it makes; "": none.
func AgentReads(t Conversation, s tenancy.Settings) string {
	r := t.Conversation.Reading
	if r == nil || len(t.Inbox) == 0 || t.Conversation.Status == conversation.Closed {
		return ""
	}
	var names []string
	for _, x := range slices.Backward(r.Read) {
		if name := language.OneLine(x.Path); name != "" && len(names) < mostReading && !slices.Contains(names, name) {
			names = append(names, language.First(name, maxReading))
		}
	}
	slices.Reverse(names)
	w := conversationWordsOf.In(t.locale(s))
	if names == nil {
		return w.Reads
	}
	return fill(w.ReadsFiles, "files", strings.Join(names, ", "))
}

func (d drawing) said(subject string) string {
	key, part := conversation.OfMessage(subject)
	m := d.t.Message
	if m == nil {
		return key
	}
	if m.Content == "" {
		return explain.ActionReason(d.w.Locale, m.Reason, inline(m.Detail, maxDetail))
	}
	parts := conversation.Parts(m.Content)
	if part < 0 || part >= len(parts) {
		return d.w.None
	}
	text := or(said(parts[part]), d.w.None)
	if m.Sender == conversation.FromSystem {
		text = "_" + d.talk.System + "_ " + text
		for _, o := range d.t.Offered { // the agent reads the id
			if o.TaskID != "" {
				text = strings.Replace(text, o.TaskID, d.nameOfTask(o), 1)
			}
		}
	}
	s := d.t.Conversation
	if m.Reason == conversation.ReasonSourceThere && s != nil && s.Source != nil && s.Source.URL() != "" {
		link := linked(inline(s.Source.Short(), maxDetail), s.Source.URL())
		if named := strings.Replace(text, s.Source.String(), link, 1); named != text {
			return named
		}
		text += "\n" + link
	}
	return text
}

// nameOfTask is the beginning of what a task was asked for, as a link to the task where there is a console.
func (d drawing) nameOfTask(o *conversation.Offered) string {
	name := fill(d.w.Quoted, "text", or(inline(cmp.Or(o.Named, o.Text), maxListTitle), d.w.Untitled))
	if page := Page(d.Console, aggregate.Ref{Kind: task.Kind.Name, ID: o.TaskID}); page != "" {
		return linked(name, page)
	}
	return name
}

// offered draws a request that the agent wants to make, or that somebody made of it.
func (d drawing) offered(o *conversation.Offered) face {
	w := d.talk
	if o == nil {
		return face{text: w.OfferGone, colour: grey}.with(section(w.OfferGone))
	}
	if o.MadeAt != nil {
		by := fill(w.OfferMadeBy, "who", d.w.mention(o.MadeBy), "when", whenSet(o.MadeAt))
		return face{text: w.OfferMade, colour: green}.
			with(section(w.OfferMade)).with(d.madeOf(o)...).with(contextLine(by))
	}
	var l listing
	l.add(0, "", d.written(o.Text)...)
	b := d.listed(l, maxPages).bounded()
	if d.t.OpenOffer() == nil {
		return face{text: w.OfferClosed, colour: grey}.with(section(w.OfferClosed)).with(b.blocks...)
	}
	f := face{text: w.Offer, colour: blue}.with(section(w.Offer)).with(b.blocks...)
	if b.cut {
		return f.with(contextLine(w.OfferLong))
	}
	return f.with(contextLine(fill(w.OfferWho, "who", d.w.mention(o.User))),
		d.actions(button(w.OfferMake, MakeRequest, o.ID, slack.StylePrimary)))
}

func (d drawing) madeOf(o *conversation.Offered) []slack.Block {
	short := language.First(o.Text, maxAbout)
	blocks := sectioned(d.written(short)...)
	if short != o.Text {
		blocks = append(blocks, contextLine(d.talk.Shortened))
	}
	return blocks
}

// talkEnded draws the card of a closed conversation. Its button is gone once the conversation is open again, or
// forgotten.
func (d drawing) talkEnded() face {
	s, w := d.t.Conversation, d.talk
	if s == nil || s.Status != conversation.Closed {
		return face{text: w.Reopened, colour: grey}.with(contextLine(w.Reopened))
	}
	why := fill(w.ClosedBy, "who", d.w.mention(s.ClosedBy), "when", whenSet(s.ClosedAt))
	if s.CloseReason == conversation.ReasonIdle {
		why = fill(w.ClosedIdle, "days", tenancy.IdleDays, "when", whenSet(s.ClosedAt))
	}
	lines := []string{why, explain.Readers(s, d.w.Locale)}
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

func (d drawing) payload(x *conversation.Action) aggregate.JSON {
	return cmp.Or(x.Payload.JSON, aggregate.JSON(d.t.Payload))
}

// read decodes the action's payload. It returns false if the payload is missing or doesn't match its type.
func (d drawing) read(x *conversation.Action) (conversation.Payload, bool) {
	p, problems := conversation.ReadKept(x.ActionType, []byte(d.payload(x)))
	return p, len(problems) == 0
}

const maxTailLine = 240 // of one line of output

var terminalCode = language.Regexp{Text: "\x1b\\[[0-9;?]*[A-Za-z]"}

// Output is a line of a command's output without a terminal's colours, and with nothing hidden.
func Output(line string) string { return language.Code(terminalCode.Get().ReplaceAllString(line, "")) }

// tail shows the last lines of the action's output and says how many lines there were, and how many are missing.
func (d drawing) tail(x *conversation.Action) []slack.Block {
	log := d.t.Log[max(0, len(d.t.Log)-TailLines):]
	if len(log) == 0 {
		return nil
	}
	lines := make([]string, len(log))
	for i, l := range log {
		lines[i] = cut(shownCode(beginning(Output(l.Text), maxTailLine)), maxTailLine)
	}
	n, counts := max(log[len(log)-1].Order+1, x.Lines), ""
	if n > len(lines) {
		counts = " " + fill(d.talk.Lines, "n", conversation.Grouped(n))
	}
	if x.Dropped > 0 {
		counts += fill(d.talk.Dropped, "n", conversation.Grouped(x.Dropped))
	} else if x.Lines == 0 && n > conversation.MostLines { // while it runs
		counts += fill(d.talk.Newest, "n", conversation.MostLines)
	}
	code := "\n```\n" + or(strings.Join(lines, "\n"), " ") + "\n```"
	return []slack.Block{section(d.talk.Output + counts + code)}
}

// ProposalCallback names the dialog in which a person proposes a command.
const ProposalCallback = "propose_action_modal"

// ProposalForm is that dialog's private_metadata.
type ProposalForm struct {
	Session string `json:"session"`
}

// ProposalModal asks for a command in the conversation with this id; text fills it in.
func ProposalModal(session, text, locale string) slack.ModalViewRequest {
	w := conversationWordsOf.In(locale)
	text, _ = cutTyped(text)
	command := slack.NewInputBlock(conversation.OwnCommand, label(conversation.OwnCommandCalled(locale)), nil,
		&slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: conversation.OwnCommand,
			MaxLength: MaxTyped, InitialValue: text, Multiline: true})
	return modal(ProposalCallback, w.ProposeTitle, w.ProposeSubmit, wordsOf.In(locale).ModalClose,
		metadata(ProposalForm{ident(session)}), section(w.ProposeText), command)
}

// ProposeNote says why there is no dialog to propose an action: the message is in no conversation.
func ProposeNote(locale string) string { return conversationWordsOf.In(locale).ProposeNowhere }

// withFiles adds where people see an action's files.
func (d drawing) withFiles(x *conversation.Action, f face) face {
	if x.Changed == nil || x.Changed.Files == 0 || d.t.Console == "" {
		return f
	}
	page := d.t.Console + "/sessions/" + d.t.Head.SessionID + "/files"
	if x.Version != "" {
		page += "?version=" + x.Version
	}
	return f.with(contextLine(fill(d.talk.FilesPage, "url", page)))
}
