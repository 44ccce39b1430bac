package conversation

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
)

const (
	// partSize is how much of a message one of Slack's shows, in characters as Slack may count them: it recommends 4,000
	// for a message's text (https://docs.slack.dev/reference/methods/chat.postMessage), and what stands beside them needs
	// room.
	partSize = 3600
	// mostParts is in how many messages of Slack's a message is shown. The console has the rest.
	mostParts = 20
)

// fence begins and ends a block of code.
const fence = "```"

// Parts are a message's text as Slack shows it: in one message or several, cut at the ends of lines where they are. A
// block of code that goes on in the next part is closed, and opened again.
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

// partEnd is where the first part of a text ends.
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

// cost is how many characters Slack may count for one, after it was escaped.
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

// MessageSubject is what the card of a part of a message shows; the first part is 0.
func MessageSubject(key string, part int) string {
	if part == 0 {
		return "MESSAGE#" + key
	}
	return fmt.Sprintf("MESSAGE#%s/%02d", key, part+1)
}

// OfMessage is the key of the message that a card shows, and which part of it.
func OfMessage(subject string) (key string, part int) {
	key, number, several := strings.Cut(strings.TrimPrefix(subject, "MESSAGE#"), "/")
	if several {
		fmt.Sscanf(number, "%d", &part)
		part--
	}
	return key, part
}

// SessionSubject begins what the card of a closed conversation shows.
const SessionSubject = "SESSION"

// waitsInVain is the newest message that came after the conversation was closed, if nobody was told yet that it is.
func (a *Aggregate) waitsInVain() *Inbox {
	if a.Session == nil || a.Session.Status != Closed || len(a.Inbox) == 0 {
		return nil
	}
	newest := a.Inbox[len(a.Inbox)-1]
	card := aggregate.Card{CardType: CardSession, Subject: SessionSubject + "#" + newest.Message}
	if a.Common().Card(card.Key()) != nil {
		return nil
	}
	return newest
}
