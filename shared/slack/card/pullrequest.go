package card

import (
	"encoding/json"
	"fmt"

	"github.com/slack-go/slack"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/words/legible"
)

// Pull is what people are told of a pull request before they approve it, on any surface. Title and Body are the
// agent's.
type Pull struct{ CI, To, Title, Body string }

// PullOf returns what people are told of a pull request, and false for a payload that opens none. Once the action has
// ended there is nothing to say of what pushing would set going.
func PullOf(x *conversation.Action, p conversation.Payload, locale string) (out Pull, ok bool) {
	if p.Push == nil {
		return Pull{}, false
	}
	w, branch := conversationWordsOf.In(locale), ""
	if x.Pushed != nil {
		branch = x.Pushed.Branch
	}
	switch {
	case x.Status.Over():
	case p.Push.CI == agent.CISkip:
		out.CI = w.PushSkips
	default:
		out.CI = w.PushRuns
	}
	out.To = fill(w.PushTo, "repository", legible.OneLine(p.Push.Repository), "into", legible.OneLine(p.Push.Into),
		"commit", p.Push.Commit[:min(len(p.Push.Commit), 12)], "branch", legible.OneLine(branch))
	var said struct{ Title, Body string }
	if json.Unmarshal([]byte(p.Arguments), &said) != nil {
		said.Body = p.Arguments
	}
	out.Title, out.Body = said.Title, said.Body
	return out, true
}

// pullRequest draws a pull request that people are asked about: first what pushing sets going, then where it goes and
// what it says, then all that changes.
func (d conversationDrawing) pullRequest(x *conversation.Action, p conversation.Payload) listing {
	is, _ := PullOf(x, p, d.w.Locale)
	changes := d.difference(p.Changes)
	l := listing{more: changes.more}
	if is.CI != "" {
		l.add(0, "", "*"+escape(is.CI)+"*")
	}
	l.add(0, "", escape(is.To), d.texts.PushTitle+" "+inlineCode(is.Title), d.texts.PushBody)
	l.add(0, "", d.written(is.Body)...)
	l.parts = append(l.parts, changes.parts...)
	return l
}

// pushed says what of a pull request is there, and whether somebody is looking.
func (d conversationDrawing) pushed(x *conversation.Action) (lines []string) {
	p := x.Pushed
	if p == nil {
		return nil
	}
	switch {
	case p.Number > 0:
		link := fmt.Sprintf("<%s|%s#%d>", p.URL(), escape(p.Repository), p.Number)
		lines = append(lines, fill(d.texts.Pulled, "link", link))
	case p.There:
		lines = append(lines, fill(d.texts.BranchThere, "link", fmt.Sprintf("<%s|%s>", p.URL(), escape(p.Branch))))
	}
	switch {
	case p.Look != nil:
		lines = append(lines, fill(d.texts.Looking, "who", d.w.mention(p.Look.By), "when", when(p.Look.At)))
	case p.Unseen != "":
		lines = append(lines, d.texts.reason(p.Unseen, ""))
	}
	return lines
}

// check returns the button by which people have it looked what of a pull request is there.
func (d conversationDrawing) check(x *conversation.Action) []slack.Block {
	if d.t.Unsure(x.ActionID) == nil || x.Pushed.Look != nil || d.t.Conversation.Status == conversation.Closed {
		return nil
	}
	return []slack.Block{d.actions(button(d.texts.CheckPush, CheckAction, x.ActionID, slack.StylePrimary))}
}
