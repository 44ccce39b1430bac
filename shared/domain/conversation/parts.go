package conversation

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
)

const (
	// partSize is how much text one Slack message shows, in characters as Slack may count them. Slack recommends at
	// most 4,000 (https://docs.slack.dev/reference/methods/chat.postMessage); the rest is for other parts of the
	// message.
	partSize = 3600
	// mostParts limits the Slack messages for one answer. The console shows the complete text.
	mostParts = 20
)

// fence begins and ends a code block.
const fence = "```"

// Parts splits a message's text into Slack messages, at the ends of lines if possible. A code block that continues in
// the next part is closed and reopened.
func Parts(text string) []string {
	var out []string
	open := false
	text = strings.TrimSpace(text)
	for text != "" && len(out) < mostParts {
		end := partEnd(text)
		part := strings.TrimRight(text[:end], " \n")
		text = strings.TrimLeft(text[end:], "\n")
		if open {
			part = fence + "\n" + part
		}
		if open = strings.Count(part, fence)%2 == 1; open {
			part += "\n" + fence
		}
		out = append(out, part)
	}
	if text != "" {
		out[mostParts-1] += "\n…"
	}
	return out
}

// partEnd returns where the first part of the text ends.
func partEnd(text string) int {
	used, line, word := 0, 0, 0 // ends of the last line and word that fit
	for i, r := range text {
		if used += cost(r); used > partSize {
			switch {
			case line > i/2:
				return line
			case word > i/2:
				return word
			}
			return i
		}
		switch r {
		case '\n':
			line = i + 1
		case ' ', '。', '、':
			word = i + utf8.RuneLen(r)
		}
	}
	return len(text)
}

// cost returns how many characters Slack may count for r after escaping.
func cost(r rune) int {
	switch {
	case r == '&':
		return len("&amp;")
	case r == '<', r == '>':
		return len("&lt;")
	case r > 0xffff:
		return 2
	}
	return 1
}

// MessageSubject returns the subject of the card for a part of a message; the first part is 0.
func MessageSubject(key string, part int) string {
	if part == 0 {
		return "MESSAGE#" + key
	}
	return fmt.Sprintf("MESSAGE#%s/%02d", key, part+1)
}

// OfMessage returns the key of the message that a card shows, and which part.
func OfMessage(subject string) (key string, part int) {
	key, number, several := strings.Cut(strings.TrimPrefix(subject, "MESSAGE#"), "/")
	if several {
		fmt.Sscanf(number, "%d", &part)
		part--
	}
	return key, part
}

// SessionSubject begins the subjects of cards about a conversation's end.
const SessionSubject = "SESSION"

// waitsInVain returns the newest message in the inbox of a closed conversation if no card has reacted to it yet, else
// nil. A change of an earlier message doesn't count.
func (a *Aggregate) waitsInVain() *Inbox {
	if a.Conversation == nil || a.Conversation.Status != Closed {
		return nil
	}
	written := slices.DeleteFunc(slices.Clone(a.Inbox), func(i *Inbox) bool { return i.Changes != "" })
	if len(written) == 0 {
		return nil
	}
	newest := written[len(written)-1]
	card := aggregate.Card{CardType: CardSession, Subject: SessionSubject + "#" + newest.Message}
	if a.Common().Card(card.Key()) != nil {
		return nil
	}
	return newest
}
