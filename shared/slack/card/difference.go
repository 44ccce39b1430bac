package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/words/legible"
)

// difference draws changes of files: for each path what became of it, and the lines that change.
func (d drawing) difference(changes []files.Change) listing {
	l := listing{more: d.talk.Rest["files"]}
	l.add(0, "", fill(d.talk.Difference, "n", len(changes)))
	for i, c := range changes {
		again := fill(d.talk.Again, "name", inlineCode(legible.First(c.Path, maxAgain)))
		l.add(i+1, again, "*"+inlineCode(c.Path)+"* "+became(c, d.talk, inlineCode, d.w.None))
		if lines := strings.Join(DifferenceLines(c, d.talk.NoLineEnd), "\n"); lines != "" {
			fences, _ := fenced(tickedApart(tabs.Replace(lines)), maxSection-200-units(again), everything)
			l.add(i+1, again, fences...)
		}
	}
	return l
}

const maxAgain = 120 // characters of a path above each further part of a file

// Seen says on any surface whether people saw the text of what an action changed before that was made.
func Seen(x *conversation.Action, locale string) string {
	w := conversationWordsOf.In(locale)
	if x.Seen() {
		return w.Seen
	}
	return w.Unseen
}

// Became says on any surface what became of a path.
func Became(c files.Change, locale string) string {
	return became(c, conversationWordsOf.In(locale), legible.OneLine, wordsOf.In(locale).None)
}

// became says in words what became of a path; named draws where a link leads, and none that it leads nowhere.
func became(c files.Change, w *conversationWords, named func(string) string, none string) string {
	target := func(s *files.Side) string {
		if s == nil || s.Target == "" {
			return none
		}
		return named(s.Target)
	}
	var out []string
	for _, kind := range c.Kinds() {
		text := w.Changes[kind]
		switch kind {
		case files.ChangedKind:
			text = fill(text, "was", w.Entries[c.Was.Kind()], "is", w.Entries[c.Is.Kind()])
		case files.ChangedMode:
			text = w.Modes[c.Is.Mode]
		case files.ChangedLink:
			text = fill(text, "was", target(c.Was), "is", target(c.Is))
		}
		out = append(out, text)
	}
	added, removed := c.Count()
	if added+removed > 0 {
		out = append(out, fill(w.Count, "added", added, "removed", removed))
	}
	if c.Unshown != "" {
		out = append(out, w.Unshown[c.Unshown])
	}
	return strings.Join(out, " · ")
}

// DifferenceLines returns a unified difference with every character spelled; noEnd stands below a line without its end.
func DifferenceLines(c files.Change, noEnd string) (out []string) {
	for _, h := range c.Hunks {
		out = append(out, h.Heading())
		for _, line := range h.Lines {
			text, whole := strings.CutSuffix(line[1:], "\n")
			out = append(out, line[:1]+legible.Spelled(text))
			if !whole {
				out = append(out, `\ `+noEnd)
			}
		}
	}
	return out
}

// filesChanged says what an action that ended changed, with the first few names.
func (d drawing) filesChanged(x *conversation.Action) (lines []string) {
	if c := x.Changed; c != nil && c.Files > 0 {
		lines = append(lines, fill(d.talk.FilesChanged, "n", c.Files, "added", c.Added, "removed", c.Removed,
			"names", d.named(c.Names, c.Files)))
		if c.Deleted > 0 {
			lines = append(lines, fill(d.talk.FilesDeleted, "n", c.Deleted, "names", d.named(c.DeletedNames, c.Deleted)))
		}
		lines = append(lines, Seen(x, d.w.Locale))
	}
	if x.NotTaken {
		lines = append(lines, d.talk.NotTaken)
	}
	return lines
}

func (d drawing) named(first []string, of int) string {
	names := make([]string, len(first))
	for i, name := range first {
		names[i] = inlineCode(legible.First(name, maxTool))
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

// Pull is what people are told of a pull request before they approve it, on any surface.
type Pull struct{ CI, To, Title, Body string } // Title and Body are the agent's

// PullOf returns a payload's pull request, and false if it opens none. Once the action has ended, it has no CI.
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

// pullRequest draws what pushing sets going, then where a pull request goes and what it says, then all that changes.
func (d drawing) pullRequest(x *conversation.Action, p conversation.Payload) listing {
	is, _ := PullOf(x, p, d.w.Locale)
	changes := d.difference(p.Changes)
	l := listing{more: changes.more}
	if is.CI != "" {
		l.add(0, "", "*"+escape(is.CI)+"*")
	}
	l.add(0, "", escape(is.To), d.talk.PushTitle+" "+inlineCode(is.Title), d.talk.PushBody)
	l.add(0, "", d.written(is.Body)...)
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
		lines = append(lines, d.talk.reason(p.Unseen, ""))
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
