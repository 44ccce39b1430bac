package card

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/words/legible"
)

const (
	maxAbout  = 600 // of the agent's reason for an action
	maxResult = 600
)

func (d conversationDrawing) action(x *conversation.Action) face {
	w, title := d.texts, d.title(d.texts.Header, x)
	switch {
	case x.Status == conversation.ActionPending:
		return d.pendingAction(x)
	case x.Status == conversation.ActionApproved:
		return d.shown(x, title+d.w.IsApproved, green).
			with(divider(), d.actions(d.cancel(x)), contextLine(d.approvedBy(x)))
	case x.Status == conversation.ActionExecuting:
		return d.shown(x, d.title(w.Running, x), navy).with(d.tail(x)...).
			with(divider(), d.actions(d.cancel(x)),
				contextLine(d.approvedBy(x), fill(w.Since, "when", whenSet(x.StartedAt))))
	case x.Status == conversation.ActionSucceeded:
		return d.over(x, d.title(w.Done, x), green)
	case x.Outcome == conversation.OutcomeUnknown:
		return d.over(x, d.title(w.Unknown, x), red)
	case x.Status == conversation.ActionFailed:
		return d.over(x, d.title(w.Failed, x), red)
	}
	return d.withdrawn(x, title)
}

// routeOf says whom the settings ask about an action.
func (d conversationDrawing) routeOf(x *conversation.Action) routed {
	r := d.route(&x.Gate, x.Status == conversation.ActionPending, d.t.Conversation.Origin())
	r.copies = d.t.CopiesOf(x.Key())
	return r
}

func (d conversationDrawing) pendingAction(x *conversation.Action) face {
	w, b := d.w, d.body(x, maxPages).bounded()
	value := x.ActionID + "/" + d.t.AskedHash(x.ActionID)
	p, _ := d.read(x)
	why := Unapprovable(p, d.w.Locale)
	yes, no := d.decision(ApproveAction, RejectAction, value)
	buttons := []slack.BlockElement{yes}
	switch {
	case why != "":
		buttons = nil
		b.blocks = append(b.blocks, section(why))
	case b.cut: // people can't approve an action that its card shows only in part
		buttons = []slack.BlockElement{button(w.Review, OpenActionReview, x.ActionID, slack.StylePrimary)}
		b.blocks = append(b.blocks, contextLine(w.NotWhole))
	}
	buttons = append(buttons, no, button(more, MoreAction+string(conversation.CardAction), value, ""))
	f := face{text: fill(d.texts.AsksText, "n", x.Number) + d.matter(x), colour: blue}.
		with(header(d.title(d.texts.Asks, x)))
	var notes []string
	if x.Pushed != nil {
		notes = PushNotes(d.t.Conversation, x, d.w.Locale)
	}
	f = f.with(b.blocks...).with(d.about(x)...)
	if x.EditedAt != nil {
		notes = append(notes, fill(d.texts.SourceEdited, "when", whenSet(x.EditedAt)))
	}
	f = f.with(divider()).with(d.routeOf(x).waits(notes...)...).with(d.actions(buttons...))
	if why != "" {
		return f
	}
	return f.with(contextLine(d.effect(x, b.cut)))
}

// title is a heading with what people call the action.
func (d conversationDrawing) title(text string, x *conversation.Action) string {
	return fill(text, "n", x.Number, "type", or(ActionCalled(x, d.w.Locale), plain(string(x.ActionType), maxTool)))
}

// matter is the end of a notification: a pull request's title, the beginning of a command, or the names of files.
func (d conversationDrawing) matter(x *conversation.Action) string {
	p, ok := d.read(x)
	said := p.Script
	switch {
	case !ok:
		return ""
	case p.Push != nil:
		is, _ := PullOf(x, p, d.w.Locale)
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

// effect says what an approval does. What the card shows only in part, people read whole in its dialog.
func (d conversationDrawing) effect(x *conversation.Action, cut bool) string {
	kind, where := x.ActionType, d.texts.Above
	if x.Pushed != nil {
		kind = "push"
	}
	if cut {
		where = fill(d.texts.Inside, "whole", d.w.Review)
	}
	return fill(d.texts.Effect[kind], "once", d.texts.Approved, "where", where)
}

// Unapprovable says on any surface why nobody can approve an action with this payload; empty: people can.
func Unapprovable(p conversation.Payload, locale string) string {
	w := conversationWordsOf.In(locale)
	if files.Unstampable(p.Changes) != nil {
		return fill(w.TooMuch, "paths", files.MaxChanges, "lines", files.MaxChangedLines,
			"kib", files.MaxChangedBytes>>10, "characters", files.MaxChangedLine)
	}
	return ""
}

func (d conversationDrawing) cancel(x *conversation.Action) slack.BlockElement {
	w, text := d.texts, d.texts.ConfirmText
	if x.ActionType == conversation.ToolCall {
		text = w.ConfirmCall
	}
	stop := button(w.Cancel, CancelAction, x.ActionID, slack.StyleDanger)
	return confirmed(stop, w.ConfirmTitle, text, w.ConfirmYes, w.ConfirmNo)
}

// ActionCalled returns what people call an action on any surface, or "" for a type that this release doesn't know.
func ActionCalled(x *conversation.Action, locale string) string {
	if x.Pushed != nil {
		return conversationWordsOf.In(locale).PushType
	}
	return agent.Called(locale)[x.ActionType]
}

// about says how long the action may run, and why the agent wants it.
func (d conversationDrawing) about(x *conversation.Action) []slack.Block {
	w, lines := d.texts, []string(nil)
	if x.TimeoutSeconds > 0 && x.ActionType != conversation.CodeGenerate {
		lines = append(lines, fill(w.Limit, "seconds", x.TimeoutSeconds))
	}
	if about := inline(x.Summary, maxAbout); about != "" {
		lines = append(lines, fill(w.About, "agent", or(inline(d.t.Conversation.AgentID, maxTool), d.w.None), "text", about))
	}
	return sectionOf(lines)
}

// body draws what the action would do, in up to most sections.
func (d conversationDrawing) body(x *conversation.Action, most int) body {
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
		return d.callBody(p, most)
	case x.ActionType == conversation.ShellCommand:
		return d.listed(d.scripts(p), most)
	case x.ActionType == conversation.TestRun:
		return d.listed(d.argv(p), most)
	case p.Changes != nil:
		return d.listed(d.difference(p.Changes), most)
	}
	return body{}
}

func (d conversationDrawing) argv(p conversation.Payload) listing {
	l := listing{more: d.texts.Rest["arguments"]}
	l.add(0, "", d.texts.Argv)
	for i, arg := range p.Argv {
		n := fmt.Sprintf("%d.", i+1)
		again := fill(d.texts.Again, "name", n)
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

func (d conversationDrawing) scripts(p conversation.Payload) (l listing) {
	l.add(0, "", append([]string{d.texts.Script}, d.written(p.Script)...)...)
	return l
}

// tabs writes a tab as ⇥, since code has many tabs. A ⇥ in the text itself is written as its code point.
var tabs = strings.NewReplacer("⇥", "⟨U+21E5⟩", "⟨U+0009⟩", "⇥ ")

// written shows a text in code blocks, with every invisible character spelled out.
func (drawing) written(text string) []string {
	fences, _ := fenced(tickedApart(tabs.Replace(legible.Spelled(text))), maxSection-200, everything)
	return fences
}

// shown draws an action that was decided on. Of a long action it shows only the beginning.
func (d conversationDrawing) shown(x *conversation.Action, title, colour string) face {
	b := d.body(x, 1)
	f := face{text: title, colour: colour}.with(header(title)).with(b.blocks[:min(len(b.blocks), 2)]...)
	if b.cut {
		f = f.with(contextLine(d.texts.Shortened))
	}
	return f.with(d.about(x)...)
}

func (d conversationDrawing) over(x *conversation.Action, title, colour string) face {
	w := d.texts
	var lines []string
	switch {
	case x.Outcome == conversation.OutcomeUnknown && x.Pushed != nil:
		lines = append(lines, w.PushUnknown)
	case x.Outcome == conversation.OutcomeUnknown:
		lines = append(lines, w.CheckUnknown)
	case x.Status == conversation.ActionFailed:
		lines = append(lines, w.reason(x.Error, ""))
	}
	if x.ExitCode != nil {
		lines = append(lines, fill(w.Exit, "code", *x.ExitCode))
	}
	lines = append(lines, x.Tests.Said(d.w.Locale))
	if x.CallResult != nil {
		lines = append(lines, fill(w.CallReturned, "bytes", conversation.Grouped(x.CallResult.Bytes)))
	}
	lines = append(slices.Concat(lines, d.pushed(x), d.filesChanged(x)), inline(x.ErrorDetail, maxResult))
	f := d.files(x, d.shown(x, title, colour).with(sectionOf(lines)...).with(d.tail(x)...))
	ran := d.w.timed(x.StartedAt, x.CompletedAt, w.Took, w.Ended)
	f = f.with(divider(), contextLine(d.approvedBy(x), ran)).with(d.check(x)...)
	if x.Error == conversation.ReasonFilesLost && d.t.FilesLost() && d.t.Conversation.Status != conversation.Closed {
		empty := button(w.BeginEmpty, BeginEmpty, d.t.Conversation.ID, slack.StyleDanger)
		f = f.with(d.actions(confirmed(empty, w.EmptyTitle, w.EmptyText, w.EmptyYes, w.EmptyNo)))
	}
	return f
}

func (d conversationDrawing) approvedBy(x *conversation.Action) string {
	if x.ApprovedBy == conversation.ApprovedByAuto {
		return fill(d.texts.ByRule, "rule", or(inline(x.Rule, maxTool), d.w.None), "when", whenSet(x.Gate.ApprovedAt))
	}
	return fill(d.w.ApprovedBy, "who", d.w.mention(x.Gate.ApprovedBy), "when", whenSet(x.Gate.ApprovedAt))
}

// CalledStep is an agent's call of a tool as a step, so that one code draws both.
func CalledStep(p conversation.Payload) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: p.Tool, ToolInput: aggregate.JSON(p.Arguments), Access: p.Access,
		ToolVersion: p.ToolVersion, ToolTitle: p.ToolTitle, LeftOut: aggregate.JSON(p.LeftOut), Mark: p.Mark,
		Declared: aggregate.JSON(p.Declared)}
}

// callBody draws a call of a tool as the gate of a step is drawn.
func (d conversationDrawing) callBody(p conversation.Payload, most int) body {
	call, w := CalledStep(p), d.texts
	title := fill(w.Call, "tool", inlineCode(p.Tool), "kind", CallKind(p.Access, d.w.Locale))
	out, _ := d.call(call, aggregate.Blob{JSON: call.ToolInput, Bytes: len(call.ToolInput)}, most)
	return out.with(small([]string{title}))
}

// PushNotes says on any surface of a pull request that waits where its result goes, and who can read it.
func PushNotes(s *conversation.Conversation, x *conversation.Action, locale string) (lines []string) {
	w := conversationWordsOf.In(locale)
	vendor := or(w.CallVendors[s.Provider], inline(s.Provider, maxTool))
	if vendor != "" {
		vendor = fill(w.CallVendor, "vendor", vendor)
	}
	lines = append(lines, fill(w.CallGoes, "agent", or(inline(s.AgentID, maxTool), "—"), "vendor", vendor))
	return append(lines, w.readers(s), fill(w.PushReaders, "repository", inline(x.Pushed.Repository, maxTool)))
}

// CallKind says on any surface whether a call only reads.
func CallKind(access aggregate.Access, locale string) string {
	if access == aggregate.Write {
		return conversationWordsOf.In(locale).CallWrites
	}
	return conversationWordsOf.In(locale).CallReads
}
