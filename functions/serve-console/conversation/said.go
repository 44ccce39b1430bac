package conversation

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/isolated"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

type saidRow struct {
	conversation.Message
	By         string
	Text       []card.Passage
	Files      []fileRow
	Action     int          // number of the action that the message is about
	ActionPath string       // where that is on the page
	Task       string       // path of the task that the message is about
	Request    string       // what the agent wants to ask for
	Thread     []earlierRow // what was said in the thread before
	Forwarded  []earlierRow // the messages that it forwards
	Anew       bool         // the agent doesn't know the messages before this one
	Waits      bool         // it is not answered
	Note       string
}

// fileRow is a file of a message, or one that lies beside the conversation's files.
type fileRow struct {
	Name, Type, Why string
	Bytes           int64
	Unread          bool
}

type earlierRow struct {
	By, Text string
	At       time.Time
}

// messages fills in the messages; those that the summary replaces are listed separately.
func (p *conversationPage) messages(t loaded, words web.Texts) {
	s := t.is.Conversation
	if t.summary != nil {
		p.Summary = t.summary
		p.Originals = p.Path + "?before=" + url.QueryEscape(s.CollapsedThrough+"!") + "#said"
	}
	p.SummaryGone = s.SummaryKey != "" && t.summary == nil
	waits := map[string]bool{}
	for _, i := range t.is.Inbox {
		waits[i.Message] = true
	}
	about := map[string]*conversation.Action{}
	for _, x := range t.actions {
		about[x.ActionID] = x
	}
	gone := map[string]bool{}
	for _, m := range t.said {
		gone[m.Changes] = gone[m.Changes] || m.Deleted
	}
	anew := s.HistoryFrom == nil
	files := newReadings(t.said)
	for _, m := range t.said {
		if m.Collapsed && m.Key() == s.SummaryKey {
			continue // it stands above
		}
		row := p.rowOf(t, m, words)
		row.Waits = waits[m.Key()]
		if x := about[m.ActionID]; x != nil {
			row.Action, row.ActionPath = x.Number, t.place(x)
			if m.Proposes(x) { // what it does stands there
				row.Text = card.Passages(m.Worded())
			}
		}
		if row.Note == "" && gone[m.Key()] {
			row.Note = words.Say("deleted")
		}
		if !anew && !m.CreatedAt.Before(*s.HistoryFrom) {
			anew, row.Anew = true, true
		}
		row.Files = files.of(m, words)
		if s.CollapsedThrough != "" && m.Key() <= s.CollapsedThrough {
			p.Folded = append(p.Folded, row)
		} else {
			p.Said = append(p.Said, row)
		}
	}
	if p.Newest == "" {
		n := max(0, len(p.Said)-mostUnfolded)
		if i := slices.IndexFunc(p.Said, func(m saidRow) bool { return m.Waits }); i >= 0 {
			n = min(n, i)
		}
		p.Before, p.Said = p.Said[:n], p.Said[n:]
	}
	if len(t.said) == saidOfPage {
		p.Older = p.Path + "?before=" + url.QueryEscape(t.said[0].Key()) + "#said"
	}
}

// mostUnfolded is how many messages a page shows unfolded, and more while more are unanswered.
const mostUnfolded = 10

// rowOf draws a message without what depends on others.
func (p *conversationPage) rowOf(t loaded, m conversation.Message, words web.Texts) saidRow {
	row := saidRow{Message: m, By: t.person(m.User), Text: card.Passages(m.Content)}
	switch {
	case m.Deleted:
		row.Note = words.Say("deletes")
	case m.Changes != "":
		row.Note = words.Say("changes")
	}
	for _, q := range m.Forwarded {
		by := card.OneLine(q.Name)
		if len(task.Others("", q.User)) > 0 {
			by = t.person(q.User)
		}
		row.Forwarded = append(row.Forwarded, earlierRow{by, legible.Visible(q.Text), q.At})
	}
	row.Thread = web.Each(m.Thread, func(e conversation.Earlier) earlierRow {
		return earlierRow{t.person(e.User), legible.Visible(e.Text), e.At}
	})
	row.Request = legible.Visible(m.Request)
	if aggregate.ValidID(m.TaskID) {
		row.Task = "/console/tasks/" + m.TaskID
	}
	switch m.Sender {
	case conversation.FromAgent:
		row.By, row.Text = p.Agent, card.Answered(m.Content)
	case conversation.FromSystem:
		row.By = words.Say("system")
		if m.Collapsed {
			row.Text = append([]card.Passage{{Text: words.Say("summary") + "\n"}}, row.Text...)
		}
	}
	return row
}

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
		why := ""
		if f.Why != "" {
			why = explain.Unread(words.Locale(), f.Why)
		}
		out = append(out, fileRow{legible.OneLine(f.Name), legible.OneLine(f.Type), why, f.Bytes, unread})
	}
	return out
}

// attachedOf says of the files beside the conversation's whether the agent can read them, and what it doesn't see.
func attachedOf(words web.Texts, all []conversation.Attached) (rows []fileRow) {
	for _, x := range all {
		row := fileRow{Name: files.AttachedFolder + "/" + x.Path, Bytes: x.Bytes}
		switch {
		case x.Image():
			row.Type = words.Say("attached_image")
		case x.Text == "":
			row.Type, row.Why = words.Say("attached_unread"), explain.Unread(words.Locale(), x.Why)
		default:
			row.Type = words.Say("attached_text", "as", cmp.Or(x.Encoding, string(x.Form)))
		}
		if x.Text != "" {
			remark := func(r isolated.FileRemark) string { return explain.FileRemark(words.Locale(), r) }
			row.Why = web.Joined(x.Remarks, remark, " ")
		}
		rows = append(rows, row)
	}
	return rows
}

// used returns the model calls of a conversation that the viewer may read.
func (c *Pages) used(r *http.Request, v *web.Viewer) (uses []*aggregate.Use, err error) {
	a, err := c.Subject(r, v, c.page())
	if err != nil {
		return nil, err
	}
	rows, err := c.Conversations.Uses(r.Context(), v.Tenant, a.Ref().ID)
	for i := range rows {
		uses = append(uses, &rows[i])
	}
	return uses, err
}

// sendSent sends administrators what models were sent for a conversation.
func (c *Pages) sendSent(w http.ResponseWriter, r *http.Request, v *web.Viewer, uses []*aggregate.Use) error {
	return c.SendSent(w, r, conversation.RefOf(v.Tenant, r.PathValue("id")), uses)
}
