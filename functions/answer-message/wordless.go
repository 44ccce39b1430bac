package main

import (
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
)

const (
	reasonBlank     aggregate.Reason = "message_blank"
	reasonWithdrawn aggregate.Reason = "message_withdrawn"
	reasonChanged   aggregate.Reason = "message_changed"
	reasonDeleted   aggregate.Reason = "message_deleted"
)

// wordless answers by a sentence what needs no model: messages without a word, and changes of messages that were
// answered before. A change of a message that waits is answered with that message, unless it was deleted. wordless
// leaves one of these groups in t.seen; the other messages are answered next.
func (t *answering) wordless() *conversation.Refusal {
	waits, edited, gone := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, i := range t.seen {
		waits[i.Message] = true
		edited[i.Changes] = edited[i.Changes] || !i.Deleted
		gone[i.Changes] = gone[i.Changes] || i.Deleted
	}
	groups := map[aggregate.Reason][]*conversation.Inbox{}
	for _, i := range t.seen {
		var why aggregate.Reason
		switch {
		case gone[i.Message], i.Changes != "" && gone[i.Changes] && waits[i.Changes]:
			why = reasonWithdrawn
		case i.Changes != "" && gone[i.Changes]:
			why = reasonDeleted
		case i.Changes != "" && !waits[i.Changes]:
			why = reasonChanged
		case i.Blank && !edited[i.Message]:
			why = reasonBlank
		default:
			continue
		}
		groups[why] = append(groups[why], i)
	}
	w := wordsIn(t.settings.Locale)
	for _, say := range []struct {
		why  aggregate.Reason
		text string
	}{{reasonWithdrawn, w.withdrawn}, {reasonBlank, w.blank}, {reasonChanged, w.changed}, {reasonDeleted, w.deleted}} {
		if group := groups[say.why]; group != nil {
			t.seen = group
			return &conversation.Refusal{Reason: say.why, Text: say.text}
		}
	}
	return nil
}
