package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// difference draws changes of files: for each path what became of it, and the lines that change.
func (d drawing) difference(changes []files.Change) listing {
	l := listing{more: d.talk.Rest["files"]}
	l.add(0, "", fill(d.talk.Difference, "n", len(changes)))
	for i, c := range changes {
		again := fill(d.talk.Again, "name", inlineCode(language.First(c.Path, maxAgain)))
		l.add(i+1, again, "*"+inlineCode(c.Path)+"* "+explain.Became(c, d.w.Locale, inlineCode))
		if lines := strings.Join(explain.DifferenceLines(c, d.w.Locale), "\n"); lines != "" {
			fences, _ := fenced(tickedApart(tabs.Replace(lines)), maxSection-200-units(again), everything)
			l.add(i+1, again, fences...)
		}
	}
	return l
}

const maxAgain = 120 // characters of a path above each further part of a file

// filesChanged says what an action that ended changed, with the first few names.
func (d drawing) filesChanged(x *conversation.Action) (lines []string) {
	if c := x.Changed; c != nil && c.Files > 0 {
		lines = append(lines, fill(d.talk.FilesChanged, "n", c.Files, "added", c.Added, "removed", c.Removed,
			"names", d.named(c.Names, c.Files)))
		if c.Deleted > 0 {
			lines = append(lines, fill(d.talk.FilesDeleted, "n", c.Deleted, "names", d.named(c.DeletedNames, c.Deleted)))
		}
		lines = append(lines, explain.Seen(x, d.w.Locale))
	}
	if x.NotTaken {
		lines = append(lines, d.talk.NotTaken)
	}
	return lines
}

func (d drawing) named(first []string, of int) string {
	names := make([]string, len(first))
	for i, name := range first {
		names[i] = inlineCode(language.First(name, maxTool))
	}
	text := strings.Join(names, ", ")
	if more := of - len(names); more > 0 {
		text += fill(d.talk.MoreFiles, "n", more)
	}
	return text
}

// listing is a text in parts that sections don't split. A part may belong to an entry of those that a heading counts.
type listing struct {
	parts []part
	more  string // says how many entries are not shown whole; empty: none are counted
	below int    // characters that a section leaves for what stands below its parts; 0: usualBelow
}

const usualBelow = 100

type part struct {
	text  string
	entry int    // number of its entry, from 1; 0: none
	again string // stands above the part if another section has the entry's beginning
}

// add adds parts of the entry with this number, 0 for parts of none.
//
//go:noinline
func (l *listing) add(entry int, again string, texts ...string) {
	for _, text := range texts {
		l.parts = append(l.parts, part{text, entry, again})
	}
}

// unshown says how many entries have a part from this one on.
func (l listing) unshown(from int, otherwise string) string {
	entries := map[int]bool{}
	for _, p := range l.parts[from:] {
		entries[p.entry] = true
	}
	delete(entries, 0)
	if l.more == "" || len(entries) == 0 {
		return otherwise
	}
	return fill(l.more, "n", len(entries))
}

// listed draws a listing in up to most sections. The last one says that it goes on.
func (d drawing) listed(l listing, most int) body {
	if len(l.parts) == 0 {
		return body{}
	}
	room := maxSection - cmp.Or(l.below, usualBelow)
	whole := listing{more: l.more}
	for _, p := range l.parts {
		whole.add(p.entry, p.again, codePages(p.text, room)...)
	}
	pages, left := paged(whole.parts, room, most)
	if left > 0 {
		pages[most-1] += "\n" + whole.unshown(len(whole.parts)-left, d.w.GoesOn)
	}
	return body{sectioned(pages...), left > 0}
}

// paged fills up to most sections of at most room characters with complete parts, and counts the parts that are left.
func paged(parts []part, room, most int) (pages []string, left int) {
	var page []string
	used, high := 0, 0
	add := func(text string) {
		page = append(page, text)
		used, high = used+units(text)+1, high+height(text)
	}
	for i, p := range parts {
		if (used+units(p.text)+1 > room || high+height(p.text) > maxLines) && len(page) > 0 {
			pages = append(pages, strings.Join(page, "\n"))
			page, used, high = nil, 0, 0
		}
		if len(pages) == most {
			return pages, len(parts) - i
		}
		if len(page) == 0 && i > 0 && p.again != "" && parts[i-1].entry == p.entry {
			add(p.again)
		}
		add(p.text)
	}
	return append(pages, strings.Join(page, "\n")), 0
}

// pullRequest draws a pull request's title, where it goes and what pushing sets going, then what it says and all that
// changes.
func (d drawing) pullRequest(x *conversation.Action, p conversation.Payload) listing {
	is, _ := explain.PullOf(x, p, d.w.Locale)
	changes := d.difference(p.Changes)
	l := listing{more: changes.more}
	l.add(0, "", d.talk.PushTitle+" "+inlineCode(is.Title), escape(is.To))
	if is.CI != "" {
		l.add(0, "", "*"+escape(is.CI)+"*")
	}
	l.add(0, "", append([]string{d.talk.PushBody}, d.written(is.Body)...)...)
	l.parts = append(l.parts, changes.parts...)
	return l
}

// pushed says what of a pull request is there, and whether somebody is looking.
func (d drawing) pushed(x *conversation.Action) (lines []string) {
	p := x.Pushed
	if p == nil {
		return nil
	}
	switch {
	case p.Number > 0:
		link := fmt.Sprintf("<%s|%s#%d>", p.URL(), escape(p.Repository), p.Number)
		lines = append(lines, fill(d.talk.Pulled, "link", link))
	case p.There:
		lines = append(lines, fill(d.talk.BranchThere, "link", fmt.Sprintf("<%s|%s>", p.URL(), escape(p.Branch))))
	}
	switch {
	case p.Look != nil:
		lines = append(lines, fill(d.talk.Looking, "who", d.w.mention(p.Look.By), "when", when(p.Look.At)))
	case p.Unseen != "":
		lines = append(lines, explain.ActionReason(d.w.Locale, p.Unseen, ""))
	}
	return lines
}

// check returns the button by which people go on from an unknown outcome: of a call they say that it arrived, of a pull
// request they have Ringi look what is there.
func (d drawing) check(x *conversation.Action) []slack.Block {
	if d.outside != nil && x.Outcome == conversation.OutcomeUnknown {
		return []slack.Block{slack.NewActionBlock(blockID(x.ActionID, 0), d.arrived(x.ActionID))}
	}
	if x.Pushed == nil || d.t.Unsure(x.ActionID) == nil || x.Pushed.Look != nil ||
		d.t.Conversation.Status == conversation.Closed {
		return nil
	}
	return []slack.Block{d.actions(button(d.talk.CheckPush, CheckAction, x.ActionID, slack.StylePrimary))}
}

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

// actionMatter is the end of a notification: the beginning of what the action is about.
func (d drawing) actionMatter(x *conversation.Action) string {
	if said := inline(explain.ActionMatter(x, string(d.payload(x)), d.w.Locale), maxListTitle); said != "" {
		return ": " + said
	}
	return ""
}

// aboutAction says how long the action may run, and why the agent wants it.
func (d drawing) aboutAction(x *conversation.Action) []slack.Block {
	if d.outside != nil {
		return d.aboutCall()
	}
	w, lines := d.talk, []string(nil)
	if x.TimeoutSeconds > 0 && x.ActionType != conversation.CodeGenerate && !x.Status.Over() {
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
	fences, _ := fenced(tickedApart(tabs.Replace(language.Spelled(text))), maxSection-200, everything)
	return fences
}

// callBody draws a call of a tool as the gate of a step is drawn, and names the tool in a title.
func (d drawing) callBody(p conversation.Payload, title string, most int) body {
	call := explain.CalledStep(p)
	title = fill(title, "tool", inlineCode(p.Tool), "kind", explain.CallKind(p.Access, d.w.Locale))
	out, _ := d.call(call, aggregate.Blob{JSON: call.ToolInput, Bytes: len(call.ToolInput)}, most)
	return out.with(small([]string{title}))
}
