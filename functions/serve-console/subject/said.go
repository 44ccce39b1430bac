package subject

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

type saidRow struct {
	conversation.Message
	By         string
	Text       []language.Passage
	Files      []fileRow
	Action     int          // number of the action that the message is about
	ActionPath string       // where that is on the page
	Task       string       // path of the task that the message is about
	Request    string       // what the agent wants to ask for
	Thread     []web.Quoted // what was said in the thread before
	Forwarded  []web.Quoted // the messages that it forwards
	Anew       bool         // the agent doesn't know the messages before this one
	Waits      bool         // it is not answered
	Note       string
	Lines      []logLine // that Ringi quotes at the end
}

// fileRow is a file of a message.
type fileRow struct {
	Name, Type, Why string
	Bytes           int64
	Unread          bool
}

// messages fills in the messages.
func (p *conversationPage) messages(t *loadedTalk, words web.Texts) {
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
	for _, m := range t.said {
		if m.Collapsed && m.Key() == s.SummaryKey {
			continue // it stands above
		}
		row := p.rowOf(t, m, words)
		row.Waits = waits[m.Key()]
		if x := about[m.ActionID]; x != nil {
			row.Action, row.ActionPath = x.Number, t.place(x)
			if m.Proposes(x) { // what it does stands there
				row.Text = language.Passages(m.Worded())
			} else if x.Lines > 0 {
				row.quotes(m)
			}
		}
		if row.Note == "" && gone[m.Key()] {
			row.Note = words.Say("deleted")
		}
		if !anew && !m.CreatedAt.Before(*s.HistoryFrom) {
			anew, row.Anew = true, true
		}
		row.Files = filesOf(m, words)
		p.Said = append(p.Said, row)
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

// quotes takes the numbered lines of an action's output from the end of the message that quotes them.
func (row *saidRow) quotes(m conversation.Message) {
	pieces := append([]conversation.Piece{{}}, m.Pieces()...)
	last := pieces[len(pieces)-1]
	words, is := strings.CutSuffix(strings.TrimRight(m.Content, "\n"), last.Text)
	if m.Sender != conversation.FromSystem || !last.Quoted || !is {
		return
	}
	row.Text = language.Passages(words)
	for text := range strings.SplitSeq(last.Text, "\n") {
		number, rest, _ := strings.Cut(text, ": ")
		n, err := strconv.Atoi(number)
		if err != nil {
			n, rest = 0, text
		}
		row.Lines = append(row.Lines, logLine{Number: n, Text: card.Output(rest)})
	}
}

// mostUnfolded is how many messages a page shows unfolded, and more while more are unanswered.
const mostUnfolded = 10

// rowOf draws a message without what depends on others.
func (p *conversationPage) rowOf(t *loadedTalk, m conversation.Message, words web.Texts) saidRow {
	by := web.Reader{Person: t.person, ChannelOf: t.channel}
	row := saidRow{Message: m, By: t.person(m.User), Text: language.Passages(by.Named(m.Content, t.person))}
	switch {
	case m.Deleted:
		row.Note = words.Say("deletes")
	case m.Changes != "":
		row.Note = words.Say("changes")
	}
	row.Forwarded = web.Each(m.Forwarded, by.Quoted)
	row.Thread = web.Each(m.Thread, func(e conversation.Earlier) web.Quoted {
		return web.Quoted{By: t.person(e.User), Text: by.Named(language.Visible(e.Text), t.person), At: e.At}
	})
	row.Request = language.Visible(m.Request)
	if aggregate.ValidID(m.TaskID) {
		row.Task = "/console/tasks/" + m.TaskID
	}
	switch m.Sender {
	case conversation.FromAgent:
		row.By, row.Text = p.Agent, language.Answered(m.Content)
	case conversation.FromSystem:
		row.By = words.Say("system")
		if m.Collapsed {
			row.Text = append([]language.Passage{{Text: words.Say("summary") + "\n"}}, row.Text...)
		}
	}
	return row
}

// filesOf returns the files of a message; of an agent's answer those that it could not read, or not wholly.
func filesOf(m conversation.Message, words web.Texts) (out []fileRow) {
	for _, f := range m.Attachments {
		row := fileRow{Name: language.OneLine(f.Name), Type: language.OneLine(f.Type), Bytes: f.Bytes,
			Unread: m.Sender != conversation.FromUser && (f.Kind == "unread" || f.Why != "")}
		if f.Why != "" {
			row.Why = explain.Unread(words.Locale(), f.Why)
		}
		if row.Unread || m.Sender == conversation.FromUser {
			out = append(out, row)
		}
	}
	return out
}

// sendTalk sends administrators what models were sent for a conversation.
func (c *Pages) sendTalk(w http.ResponseWriter, r *http.Request, v *web.Viewer, a decide.Subject) error {
	rows, err := c.Conversations.Uses(r.Context(), v.Tenant, a.Ref().ID)
	if err != nil {
		return err
	}
	var uses []*aggregate.Use
	for i := range rows {
		uses = append(uses, &rows[i])
	}
	return c.SendSent(w, r, a.Ref(), uses)
}
