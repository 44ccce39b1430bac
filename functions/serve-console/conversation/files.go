package conversation

import (
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// readings holds what the agent's answers say about attached files: people's own messages never change.
type readings struct {
	found  map[string]conversation.Attachment // by Slack's id
	beside map[string]bool                    // files whose own message is on the page
}

func newReadings(said []conversation.Message) readings {
	r := readings{map[string]conversation.Attachment{}, map[string]bool{}}
	for _, m := range said {
		for _, f := range m.Attachments {
			switch {
			case m.Sender == conversation.FromUser:
				r.beside[f.FileID] = true
			case r.found[f.FileID].Hash == "": // what was read once stays read
				r.found[f.FileID] = f
			}
		}
	}
	return r
}

// of returns the files of a message. A remark on a file is shown with the message that attached it, if that is on the
// page, else with the answer.
func (r readings) of(m conversation.Message, words web.Texts) (out []fileRow) {
	for _, f := range m.Attachments {
		unread := f.Kind == "unread" || f.Why != ""
		if m.Sender == conversation.FromUser {
			read, known := r.found[f.FileID]
			if known {
				f.Why = read.Why
			}
			unread = known && (read.Kind == "unread" || read.Why != "") || f.Why != ""
		} else if r.beside[f.FileID] {
			continue
		}
		out = append(out, fileRow{legible.OneLine(f.Name), legible.OneLine(f.Type), whyUnread(words, f.Why), f.Bytes, unread})
	}
	return out
}
