package card

import (
	"ringi/shared/domain/conversation"
)

// files adds where people see the files of an action that ended, a button that sends them into the thread, and what
// became of that.
func (d conversationDrawing) files(x *conversation.Action, f face) face {
	w := d.texts
	if x.Changed == nil || x.Changed.Files == 0 {
		return f
	}
	var lines []string
	if page := d.t.filesPage(x); page != "" {
		lines = append(lines, fill(w.FilesPage, "url", page))
	}
	s := x.Sending
	switch {
	case s != nil && s.State == conversation.SendingDone:
		lines = append(lines, fill(w.Sent, "who", d.w.mention(s.By), "when", whenSet(s.Ended)))
	case s != nil && s.State != conversation.SendingFailed:
		lines = append(lines, w.Sending)
	case s != nil && s.Error == conversation.ReasonNotShared: // nobody knows that they were not sent
		lines = append(lines, w.reason(s.Error, ""))
	case s != nil:
		lines = append(lines, fill(w.NotSent, "why", w.reason(s.Error, "")))
	}
	wrote, open := x.Changed.Written > 0, d.t.Conversation.Status != conversation.Closed
	if d.t.MaySend && wrote && !x.Sends() {
		lines = append(lines, fill(w.Unsendable, "n", conversation.MaxSent))
	}
	if len(lines) > 0 {
		f = f.with(contextLine(lines...))
	}
	if d.t.MaySend && open && x.Sends() && (s == nil || s.State == conversation.SendingFailed) {
		send := button(w.Send, SendFiles, x.ActionID, "")
		f = f.with(d.actions(confirmed(send, w.SendTitle, fill(w.SendText, "n", x.Changed.Written), w.SendYes, w.SendNo)))
	}
	return f
}

// filesPage is the address of the files that an action left, or "".
func (t Conversation) filesPage(x *conversation.Action) string {
	if t.Console == "" {
		return ""
	}
	page := t.Console + "/sessions/" + t.Head.SessionID + "/files"
	if x.Version != "" {
		page += "?version=" + x.Version
	}
	return page
}
