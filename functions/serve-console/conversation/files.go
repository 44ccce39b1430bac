package conversation

import (
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
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

// attachedRow is an attachment that lies beside the conversation's files.
type attachedRow struct {
	Path  string
	Bytes int64
	Read  string // whether the agent can read it, and how
	Why   string // why it can't, or what it doesn't see
}

func attachedOf(words web.Texts, all []conversation.Attached) (rows []attachedRow) {
	for _, x := range all {
		row := attachedRow{Path: conversation.AttachedFolder + "/" + x.Path, Bytes: x.Bytes}
		switch {
		case x.Image():
			row.Read = words.Say("attached_image")
		case x.Text == "":
			row.Read, row.Why = words.Say("attached_unread"), whyUnread(words, x.Why)
		case x.Encoding != "":
			row.Read = words.Say("attached_text", "as", x.Encoding)
		default:
			row.Read = words.Say("attached_text", "as", string(x.Form))
		}
		if x.Text != "" {
			var said []string
			for _, r := range x.Remarks {
				said = append(said, explain.FileRemark(words.Locale(), r))
			}
			row.Why = strings.Join(said, " ")
		}
		rows = append(rows, row)
	}
	return rows
}
