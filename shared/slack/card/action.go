package card

import (
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

const (
	maxAbout  = 600 // of the agent's reason for an action
	maxResult = 600
)

// title is a heading with what people call the action.
func (d drawing) title(text string, x *conversation.Action) string {
	if d.outside != nil {
		return text
	}
	return fill(text, "n", x.Number, "type", or(explain.ActionCalled(x, d.w.Locale), plain(string(x.ActionType), maxTool)))
}

// actionMatter is the end of a notification: a pull request's title, the beginning of a command, or the names of files.
func (d drawing) actionMatter(x *conversation.Action) string {
	p, ok := d.read(x)
	said := p.Script
	switch {
	case !ok:
		return ""
	case p.Push != nil:
		is, _ := explain.PullOf(x, p, d.w.Locale)
		said = is.Title
	case len(p.Argv) > 0:
		said = agent.Line(p.Argv)
	case len(p.Changes) > 0:
		for _, c := range p.Changes {
			said = strings.TrimPrefix(said+", "+c.Path, ", ")
		}
	}
	if said = inline(said, maxListTitle); said == "" {
		return ""
	}
	return ": " + said
}

// aboutAction says how long the action may run, and why the agent wants it.
func (d drawing) aboutAction(x *conversation.Action) []slack.Block {
	if d.outside != nil {
		return d.aboutCall()
	}
	w, lines := d.talk, []string(nil)
	if x.TimeoutSeconds > 0 && x.ActionType != conversation.CodeGenerate {
		lines = append(lines, fill(w.Limit, "seconds", x.TimeoutSeconds))
	}
	if about := inline(x.Summary, maxAbout); about != "" {
		lines = append(lines, fill(w.About, "agent", or(inline(d.t.Conversation.AgentID, maxTool), d.w.None), "text", about))
	}
	return sectionOf(lines)
}

// actionBody draws what the action would do, in up to most sections.
func (d drawing) actionBody(x *conversation.Action, most int) body {
	if d.outside != nil {
		return d.callContent(most)
	}
	p, ok := d.read(x)
	d.settled = d.settled || x.Status != conversation.ActionPending
	if !ok {
		b := x.Payload
		b.JSON = d.payload(x)
		return body{d.unread(b, most).blocks, true}
	}
	switch {
	case p.Push != nil:
		return d.listed(d.pullRequest(x, p), most)
	case x.ActionType == conversation.ToolCall:
		return d.callBody(p, d.talk.Call, most)
	case x.ActionType == conversation.ShellCommand:
		return d.listed(d.scripts(p), most)
	case x.ActionType == conversation.TestRun:
		return d.listed(d.argv(p), most)
	case p.Changes != nil:
		return d.listed(d.difference(p.Changes), most)
	}
	return body{}
}

func (d drawing) argv(p conversation.Payload) listing {
	l := listing{more: d.talk.Rest["arguments"]}
	l.add(0, "", d.talk.Argv)
	for i, arg := range p.Argv {
		n := fmt.Sprintf("%d.", i+1)
		again := fill(d.talk.Again, "name", n)
		switch {
		case arg == "": // inside a code block this word would look like the argument itself
			l.add(i+1, again, n+" "+d.w.EmptyCell)
		case strings.ContainsAny(arg, "\n`") || units(arg) > maxInlineCode:
			l.add(i+1, again, append([]string{n}, d.written(arg)...)...)
		default:
			l.add(i+1, again, n+" "+inlineCode(arg))
		}
	}
	return l
}

func (d drawing) scripts(p conversation.Payload) (l listing) {
	l.add(0, "", append([]string{d.talk.Script}, d.written(p.Script)...)...)
	return l
}

// tabs writes a tab as ⇥, since code has many tabs. A ⇥ in the text itself is written as its code point.
var tabs = strings.NewReplacer("⇥", "⟨U+21E5⟩", "⟨U+0009⟩", "⇥ ")

// written shows a text in code blocks, with every invisible character spelled out.
func (drawing) written(text string) []string {
	fences, _ := fenced(tickedApart(tabs.Replace(legible.Spelled(text))), maxSection-200, everything)
	return fences
}

// callBody draws a call of a tool as the gate of a step is drawn, and names the tool in a title.
func (d drawing) callBody(p conversation.Payload, title string, most int) body {
	call := explain.CalledStep(p)
	title = fill(title, "tool", inlineCode(p.Tool), "kind", explain.CallKind(p.Access, d.w.Locale))
	out, _ := d.call(call, aggregate.Blob{JSON: call.ToolInput, Bytes: len(call.ToolInput)}, most)
	return out.with(small([]string{title}))
}
