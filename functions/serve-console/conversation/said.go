package conversation

import (
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

type saidRow struct {
	ID, By, Sender string
	Text           []card.Passage
	At             time.Time
	Files          []fileRow
	Tokens         int64
	Action         int    // number of the action that the message is about
	ActionPath     string // where that is on the page
	Task           string // path of the task that the message is about
	Request        string // what the agent handed over, or wants to
	Typed          *conversation.Own
	Thread         []earlierRow // what was said in the thread before
	Forwarded      []earlierRow // the messages that it forwards
	Anew           bool         // the agent doesn't know the messages before this one
	Waits          bool         // it is not answered
	Note           string
	Reads          []readRow
}

type fileRow struct {
	Name, Type, Why string
	Bytes           int64
	Unread          bool
}

type earlierRow struct {
	By, Text string
	At       time.Time
}

// readRow is what the agent read of the conversation's files by one call.
type readRow struct {
	What, Path, Text, Lines, Version string
	At                               time.Time
	Failed                           bool
}

func readsOf(m conversation.Message, words web.Texts) (out []readRow) {
	for _, r := range m.Read {
		x := readRow{What: words.In("read_by", r.Tool), Path: legible.OneLine(r.Path), Text: legible.OneLine(r.Text),
			Version: legible.First(r.Version, 12), At: r.At, Failed: r.Failed}
		if r.To > 0 {
			x.Lines = conversation.NumbersOf([]conversation.Lines{{From: r.From, To: r.To}}, false)
		}
		out = append(out, x)
	}
	return out
}

// messages fills in the messages; those that the summary replaces are listed separately.
func (p *conversationPage) messages(t loaded, words web.Texts) {
	s := t.is.Conversation
	if t.summary != nil {
		p.Summary, p.SummaryAt = card.Prose(t.summary.Content), t.summary.CreatedAt
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
				row.Text = card.Passages(m.Worded() + "\n" + x.Summary)
			}
		}
		if row.Note == "" && gone[m.Key()] {
			row.Note = words.Say("deleted")
		}
		if !anew && !m.CreatedAt.Before(*s.HistoryFrom) {
			anew, row.Anew = true, true
		}
		row.Files, row.Reads = files.of(m, words), readsOf(m, words)
		if s.CollapsedThrough != "" && m.Key() <= s.CollapsedThrough {
			p.Folded = append(p.Folded, row)
		} else {
			p.Said = append(p.Said, row)
		}
	}
	if p.Newest == "" {
		p.fold()
	}
	if len(t.said) == saidOfPage {
		p.Older = p.Path + "?before=" + url.QueryEscape(t.said[0].Key()) + "#said"
	}
}

// mostUnfolded is how many messages a page shows unfolded, and more while more are unanswered.
const mostUnfolded = 10

// fold folds the messages before the newest ones.
func (p *conversationPage) fold() {
	n := max(0, len(p.Said)-mostUnfolded)
	if i := slices.IndexFunc(p.Said, func(m saidRow) bool { return m.Waits }); i >= 0 {
		n = min(n, i)
	}
	p.Before, p.Said = p.Said[:n], p.Said[n:]
}

// rowOf draws a message without what depends on others.
func (p *conversationPage) rowOf(t loaded, m conversation.Message, words web.Texts) saidRow {
	row := saidRow{
		ID: m.MessageID, By: t.person(m.User), Sender: string(m.Sender), Text: card.Passages(m.Content),
		At: m.CreatedAt, Tokens: m.RawTokens,
	}
	switch {
	case m.Deleted:
		row.Note = words.Say("deletes")
	case m.Changes != "":
		row.Note = words.Say("changes")
	}
	row.Typed = m.Typed
	for _, q := range m.Forwarded {
		by := card.OneLine(q.Name)
		if len(task.Others("", q.User)) > 0 {
			by = t.person(q.User)
		}
		row.Forwarded = append(row.Forwarded, earlierRow{by, legible.Visible(q.Text), q.At})
	}
	for _, e := range m.Thread {
		row.Thread = append(row.Thread, earlierRow{t.person(e.User), legible.Visible(e.Text), e.At})
	}
	id := m.TaskID
	if m.HandOver != nil {
		id, row.Request = m.HandOver.TaskID, legible.Visible(m.HandOver.Text)
	}
	if aggregate.ValidID(id) {
		row.Task = "/console/tasks/" + id
	}
	switch m.Sender {
	case conversation.FromAgent:
		row.By, row.Text = p.Agent, card.Answered(m.Content)
	case conversation.FromSystem:
		row.By = words.Say("ringi")
		if m.For != "" {
			row.By += " → " + t.person(m.For)
		}
		if m.Collapsed {
			row.Text = append([]card.Passage{{Text: words.Say("summary") + "\n"}}, row.Text...)
		}
	}
	return row
}
