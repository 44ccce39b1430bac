package main

import (
	"ringi/shared/domain/session"
	"ringi/shared/words/legible"
)

// readings are what answers say of the files that people attached: the messages of people never change.
type readings struct {
	found  map[string]session.Attachment // by Slack's id
	beside map[string]bool               // files whose own message is on the page
}

func newReadings(said []session.Message) readings {
	r := readings{map[string]session.Attachment{}, map[string]bool{}}
	for _, m := range said {
		for _, f := range m.Attachments {
			switch {
			case m.Sender == session.FromUser:
				r.beside[f.FileID] = true
			case r.found[f.FileID].Hash == "": // what was read once stays read
				r.found[f.FileID] = f
			}
		}
	}
	return r
}

// of are the files of a message. What an answer says of one stands beside the message that it came with, where the page has it.
func (r readings) of(m session.Message, words talkTexts) (out []fileRow) {
	for _, f := range m.Attachments {
		unread := f.Kind == "unread" || f.Why != ""
		if m.Sender == session.FromUser {
			read, known := r.found[f.FileID]
			if known {
				f.Why = read.Why
			}
			unread = known && (read.Kind == "unread" || read.Why != "") || f.Why != ""
		} else if r.beside[f.FileID] {
			continue
		}
		out = append(out, fileRow{legible.OneLine(f.Name), legible.OneLine(f.Type), words.unread(f.Why), f.Bytes, unread})
	}
	return out
}
