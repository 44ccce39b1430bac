package card

import (
	"slices"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Copy draws a copy of a card for a person's direct messages: the same card with the same buttons, below a line that
// names the task and links to the original card. For task.CardOutcome it says how the task ended. link may be empty.
func Copy(a *task.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	w := askWordsOf.In(s.Locale)
	from := contextLine(fill(w.CopyFrom, "title", titleOf(a, w), "who", wordsOf.In(s.Locale).mention(a.Head.Requester)) +
		opens(link, w))
	if c.CardType == task.CardOutcome {
		return outcomeOf(a, s, link, now)
	}
	return under(from, RenderUnder(a, c, s, now))
}

// ConversationCopy is Copy for an action of a conversation.
func ConversationCopy(t Conversation, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) Message {
	w := askWordsOf.In(t.locale(s))
	return under(contextLine(conversationFrom(t.Aggregate, w)+opens(link, w)), RenderConversation(t, c, s, now))
}

// conversationFrom names a conversation, the person who began it, and its agent.
func conversationFrom(a *conversation.Aggregate, w *askWords) string {
	return fill(w.ConversationFrom, "title", conversationTitle(a.Conversation, w),
		"who", wordsOf.In(w.Locale).mention(a.Conversation.Opener), "agent", inline(a.Conversation.AgentID, maxTool))
}

func conversationTitle(s *conversation.Conversation, w *askWords) string {
	return or(inline(s.Title, maxListTitle), w.Untitled)
}

func under(from slack.Block, m Message) Message {
	m.Attachments = below(from, m.Attachments)
	if m.Plain != nil {
		plain := *m.Plain
		plain.Attachments = below(from, plain.Attachments)
		m.Plain = &plain
	}
	return m
}

// below inserts a line above the blocks of the first attachment.
func below(line slack.Block, in []slack.Attachment) []slack.Attachment {
	out := slices.Clone(in)
	if len(out) > 0 {
		out[0].Blocks.BlockSet = append([]slack.Block{line}, out[0].Blocks.BlockSet...)
	}
	return out
}

// outcomeOf tells the requester briefly how their task ended.
func outcomeOf(a *task.Aggregate, s tenancy.Settings, link string, now time.Time) Message {
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}
	w := askWordsOf.In(s.Locale)
	text := fill(w.OutcomeText, "state", w.state(a), "title", titleOf(a, w))
	colour := grey
	blocks := []slack.Block{section("*" + text + "*" + opens(link, w))}
	switch e := a.Execution(); {
	case a.Head.Ended == nil:
		text = fill(d.w.DeclinedText, "title", titleOf(a, w))
		colour, blocks = yellow, append([]slack.Block{section("*" + text + "*" + opens(link, w))}, d.changed()...)
	case a.Head.Ended.As == task.TaskCompleted:
		colour = green
		if e != nil {
			if summary := paragraph(e.Summary, maxReason); summary != "" {
				blocks = append(blocks, section(fill(d.w.Summary, "text", summary)))
			}
			blocks = append(blocks, d.links(d.attempt(e))...)
		}
	default:
		if a.Head.Ended.As == task.TaskFailed {
			colour = red
		}
		blocks = append(blocks, contextLine(append(d.rejection(), d.ended())...))
	}
	return face{text, colour, blocks}.message()
}
