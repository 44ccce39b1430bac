// Package card draws what people see of a task in Slack: its cards, the dialog that asks for a reason, and the notes
// that only one person sees.
//
// It is pure: it turns an aggregate into a message that Slack accepts, whatever the rows contain. The folder texts has
// its texts, one file for each language.
//
// What people stamp is drawn whole, or the card has no approve button: a dialog has it, or the console's page of what
// is longer than a dialog. Two different contents are drawn differently: values are spelled where characters can't be
// seen, look alike or turn around, and nothing is folded or struck out. Lines about steps are made by their tools from
// the arguments, never by a model. Only what came from results of our own tools is masked.
//
// Other people's text is escaped first and cut then, to Slack's limits and never within an entity. It never becomes a
// link, a mention of everybody, or one of Ringi's marks; it mentions twenty people at most. Results alone may be links.
// Code in an agent's answer reaches people as it is, and what nobody sees in it as its number; see said.
//
// A card is in the language of its request; dialogs and notes are in the person's. Buttons carry ids, and name the
// stage that the person sees in their block_id.
package card

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
)

// Message is a drawn card: a text for notifications, and one attachment whose bar shows the state by its colour. A
// plain reply has no attachment; what an agent says has a block in place of the text. Suggestion is a request that
// people may begin with.
type (
	Message    = slack.Msg
	Suggestion = slack.AssistantThreadsPrompt
)

// Around is what a card in a thread shows besides the rows. Its zero value shows nothing.
type Around struct {
	Console  string                // the console's address; empty: no links
	StandIns []circulation.StandIn // for those whose turn it is
}

// Render draws the card c under the tenant's settings, which say who may decide. It uses now only for waits that are
// over. A load may mix two commits: a card whose row is missing is drawn as being generated. For the hash of a
// conversation's card callers need not read messages and payloads, which never change; the output of a running action
// does.
func Render(of aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, around Around, now time.Time) Message {
	switch a := of.(type) {
	case *task.Aggregate:
		return drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now, Around: around}.face(c).message()
	case *call.Aggregate:
		if a.Call != nil && a.Call.Locale != "" {
			s.Locale = a.Call.Locale
		}
		return drawCall(a, around, s, s.Locale, now).callFace(c).message()
	}
	d := drawingOf(ConversationOf(of), s, now)
	if c.CardType == conversation.CardMessage {
		text := d.said(c.Subject)
		return Message{Text: cut(text, maxSaid), Attachments: []slack.Attachment{},
			Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewMarkdownBlock("", text)}}}
	}
	return d.talkFace(c).message()
}

func (d drawing) face(c *aggregate.Card) (f face) {
	d.copied(c)
	d.beneath = c.User != ""
	switch c.CardType {
	case task.CardPrompt, task.CardProcess, task.CardStep:
		f = d.asks(c.CardType, c.Subject)
	case task.CardExecution:
		f = d.execution()
	default:
		f = d.task()
	}
	return f
}

// Hash fingerprints a message: hexadecimal SHA-256 of its JSON with sorted keys.
func Hash(m Message) string {
	var v any
	b, err := json.Marshal(m)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err != nil { // impossible for our messages; must equal no saved hash
		return "invalid: " + err.Error()
	}
	b, _ = json.Marshal(v) // which was decoded from JSON
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// drawing draws what there is of an aggregate: a, unless it is empty, or else the call, or t.
type drawing struct {
	a        *task.Aggregate
	t        Conversation
	outside  *call.Aggregate
	talk     *conversationWords // of t or the call
	calls    *callWords
	settings tenancy.Settings
	w        *words
	now      time.Time
	Around
	settled bool                 // nobody decides any more about what is drawn
	gate    aggregate.GateStatus // of a version: what was approved stays whole, what is over otherwise is its sentence
	done    bool                 // it was done

	beneath bool            // what is drawn stands below what names the request
	headed  bool            // and what is drawn of a call, below what names its tool
	copy    *aggregate.Card // the copy that is drawn of a gate under a rule; nil: the card in the thread
}

type face struct {
	text   string
	colour string
	blocks []slack.Block
}

func (f face) message() Message {
	m := Message{Text: f.text, Attachments: []slack.Attachment{}}
	if len(f.blocks) > 0 {
		m.Attachments = append(m.Attachments, slack.Attachment{Color: f.colour, Blocks: slack.Blocks{BlockSet: f.blocks}})
	}
	return m
}

//go:noinline
func (f face) with(blocks ...slack.Block) face {
	f.blocks = append(f.blocks, blocks...)
	return f
}

// taskID is the block_id by which a click names its task, or its conversation.
func (d drawing) taskID() string {
	if d.t.Aggregate != nil {
		return ident(d.t.Head.SessionID)
	}
	return ident(d.a.Head.TaskID)
}

func (d drawing) actions(buttons ...slack.BlockElement) slack.Block {
	return slack.NewActionBlock(d.taskID(), buttons...)
}

// task draws the card that answers a request: first that it was received, then the task or the reply.
func (d drawing) task() face {
	t, w := d.a.Task, d.w
	switch {
	case d.a.Matter() != nil:
		return d.form()
	case t != nil:
		return d.outcome(d.extracted(t))
	case d.a.Head.Ended != nil && d.a.Head.Ended.As == task.TaskAnswered:
		f := face{text: d.reply() + d.leftUnread(), colour: grey}
		if d.a.Answer != nil { // Slack would mark a changed text as edited
			return f.with(sectioned(pages(f.text, maxSection)...)...)
		}
		return f
	case d.a.Head.Ended != nil && d.a.Head.Ended.As == task.TaskRefused:
		return d.refused()
	case d.a.Head.Ended != nil:
		return face{w.TaskCancelled, grey, nil}.with(section(w.TaskCancelled), contextLine(d.ended()))
	case d.a.Head.Parked != nil:
		title := w.TaskHeader + d.notMade(w.IsHeld, w.IsGenFailed)
		return d.parked(face{text: title}.with(header(title)), "").
			with(contextLine(fill(w.TaskID, "task", or(code(d.taskID(), maxID), "?"))))
	}
	return face{w.Received, yellow,
		nil}.with(section(w.Received)).with(d.enclosed()...).with(d.waitNote()...)
}

// refused says why a request did not become a task, and when the person may ask again.
func (d drawing) refused() face {
	e, w := d.a.Head.Ended, d.w
	why := Sentence(w.Locale, e.Reason, e.Detail, explain.NoRetry)
	f := face{w.RequestRefused, grey, nil}.with(section(w.RequestRefused), section(why))
	if e.Until != nil {
		f = f.with(contextLine(fill(w.RefusedUntil, "when", when(*e.Until))))
	}
	return f
}

func (d drawing) extracted(t *task.Task) face {
	w := d.w
	return face{w.TaskHeader, green, nil}.with(header(or(plain(t.Title, maxHeader), w.Untitled)), divider(),
		section(fill(w.Description, "text", or(paragraph(t.Description, maxSection-units(w.Description)), w.None))),
	).with(contextOf(d.following())...).with(
		slack.NewSectionBlock(nil, []*slack.TextBlockObject{
			mrkdwn(fill(w.Priority, "priority", w.priority(t.Priority))),
			mrkdwn(fill(w.Type, "type", or(w.Types[t.TaskType], or(inline(string(t.TaskType), maxTool), w.None)))),
		}, nil),
		divider(),
		contextLine(fill(w.TaskID, "task", or(code(t.ID, maxID), "?"))),
	).with(d.enclosed()...)
}

// following says, once people can read a later policy below, that title and description still are those of the original
// request.
func (d drawing) following() []string {
	p := d.a.Prompt()
	if p == nil || p.Version == 1 || p.Status == aggregate.Generating {
		return nil
	}
	return []string{fill(d.w.AsAsked, "version", p.Version)}
}

// Priority names a priority that presses, on pages as on cards.
func Priority(locale string, p task.Priority) string {
	if !p.Pressing() {
		return ""
	}
	return wordsOf.In(locale).priority(p)
}

func (w *words) priority(p task.Priority) string {
	return or(w.Priorities[p], or(inline(string(p), maxTool), w.None))
}
