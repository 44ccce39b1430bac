package task

import (
	"cmp"
	"strings"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// Forwarded is a message that the request forwards.
type Forwarded struct {
	By, Where, Text string
	At              time.Time
	Cut             bool
}

// File is a file of the request, and what was read of it.
type File struct {
	Name, Size, SHA256 string
	Shown, All         int    // characters that models are shown
	Why                string // why it was not read, or what its text doesn't show
	Read, Waits        bool
}

// place names the channel of a forwarded message, of which Slack may have said only the id.
func (r Reader) place(where string) string {
	id, is := strings.CutPrefix(where, "<#")
	if id, _, _ = strings.Cut(strings.TrimSuffix(id, ">"), "|"); is && r.ChannelOf != nil {
		return card.OneLine(r.ChannelOf(id))
	}
	return card.OneLine(where)
}

// enclosed adds what the request forwards and attaches.
func (r Reader) enclosed(m *Message, a *task.Aggregate) {
	m.Thread = card.Thread(a.Request.Thread, r.Locale)
	for _, q := range a.Request.Forwarded {
		by := card.OneLine(q.Name)
		if len(task.Others("", q.User)) > 0 {
			by = r.Person(q.User)
		}
		m.Forwarded = append(m.Forwarded, Forwarded{by, r.place(q.Where), r.prose(q.Text), q.At, q.Cut})
	}
	m.MoreFiles = a.Request.MoreFiles
	if a.Read() == nil {
		for _, f := range a.Request.Files {
			m.Files = append(m.Files, File{Name: card.OneLine(cmp.Or(f.Name, f.ID)), Size: card.Size(f.Bytes), Waits: true})
		}
		return
	}
	for _, f := range a.Read().Files {
		row := File{Name: card.OneLine(cmp.Or(f.Name, f.ID)), Size: card.Size(f.Bytes), SHA256: f.SHA256, Shown: f.Shown,
			All: f.Characters, Read: f.Why == ""}
		if !row.Read {
			row.Why = explain.UnreadFile(r.Locale, f.Why)
		}
		for _, remark := range f.Remarks {
			row.Why = strings.TrimSpace(row.Why + " " + explain.FileRemark(r.Locale, remark))
		}
		m.Files = append(m.Files, row)
	}
}
