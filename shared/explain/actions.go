package explain

import (
	"cmp"
	"encoding/json"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// actionWords are the texts about what agents ask for.
type actionWords struct {
	TooMuch                                            string // why nobody can approve it
	CallReads, CallWrites                              string
	ReadDirect, ReadHere                               string
	PushRuns, PushSkips, PushTo, PushType, PushReaders string // of a pull request
	Seen, Unseen, Count, NoLineEnd                     string // of the files that it changes
	Changes                                            map[files.ChangeKind]string
	Entries                                            map[files.Kind]string
	Modes                                              map[string]string // by the later mode
	Unshown                                            map[files.Unshown]string
	Reasons, CallReasons                               map[aggregate.Reason]string
	Otherwise                                          string // for other reasons
}

var actionWordsOf = language.Catalog[actionWords]{Files: &texts, Folder: "texts/actions"}

// Unapprovable says why nobody can approve an action with this payload; empty: people can.
func Unapprovable(p conversation.Payload, locale string) string {
	w := actionWordsOf.In(locale)
	if files.Unstampable(p.Changes) != nil {
		return fill(w.TooMuch, "paths", files.MaxChanges, "lines", files.MaxChangedLines,
			"kib", files.MaxChangedBytes>>10, "characters", files.MaxChangedLine)
	}
	return ""
}

// ActionCalled returns what people call an action, or "" for a type that this release doesn't know.
func ActionCalled(x *conversation.Action, locale string) string {
	if x.Pushed != nil {
		return actionWordsOf.In(locale).PushType
	}
	return tenancy.ActionsCalled(locale)[x.ActionType]
}

// ActionMatter says what an action with this payload is about: a pull request's title, a command, or the names of
// files; "" if that can't be read.
func ActionMatter(x *conversation.Action, payload, locale string) string {
	p, _ := conversation.ReadKept(x.ActionType, []byte(payload))
	switch {
	case p.Push != nil:
		is, _ := PullOf(x, p, locale)
		return is.Title
	case len(p.Argv) > 0:
		return tenancy.CommandLine(p.Argv)
	case p.Script != "":
		return p.Script
	}
	var names []string
	for _, c := range p.Changes {
		names = append(names, c.Path)
	}
	return strings.Join(names, ", ")
}

// PushReaders says who can read a pull request that waits.
func (s Surface) PushReaders(x *conversation.Action) string {
	return fill(actionWordsOf.In(s.Locale).PushReaders, "repository", s.Marks.Text(x.Pushed.Repository, maxName))
}

// CallKind says whether a call only reads.
func CallKind(access aggregate.Access, locale string) string {
	if access == aggregate.Write {
		return actionWordsOf.In(locale).CallWrites
	}
	return actionWordsOf.In(locale).CallReads
}

// CallEnded says why a call ended that no person ended.
func (s Surface) CallEnded(x *call.Call) string {
	if x.Status == call.Refused {
		return RefusedByRules(s.Locale, x.Refusal(), s.Marks.Text)
	}
	return CallReason(s.Locale, x.CancelReason)
}

// CallReason says why a call was not made, or failed.
func CallReason(locale string, why aggregate.Reason) string {
	return cmp.Or(actionWordsOf.In(locale).CallReasons[why], ActionReason(locale, why, ""))
}

// ActionReason says why an action was not done and what people can do next.
func ActionReason(locale string, r aggregate.Reason, detail string) string {
	w := actionWordsOf.In(locale)
	text := cmp.Or(w.Reasons[r], w.Otherwise)
	if detail != "" {
		text += " (" + detail + ")"
	}
	return text
}

// Seen says whether people saw the text of what an action changed before that was made.
func Seen(x *conversation.Action, locale string) string {
	w := actionWordsOf.In(locale)
	if x.Seen() {
		return w.Seen
	}
	return w.Unseen
}

// Became says in words what became of a path; named draws where a link leads.
func Became(c files.Change, locale string, named func(string) string) string {
	w := actionWordsOf.In(locale)
	target := func(s *files.Side) string {
		if s == nil || s.Target == "" {
			return lineWordsOf(locale).nothing
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

// DifferenceLines returns a unified difference with every character spelled. It says of a line that it has no end.
func DifferenceLines(c files.Change, locale string) (out []string) {
	for _, h := range c.Hunks {
		out = append(out, h.Heading())
		for _, line := range h.Lines {
			text, whole := strings.CutSuffix(line[1:], "\n")
			out = append(out, line[:1]+language.Spelled(text))
			if !whole {
				out = append(out, `\ `+actionWordsOf.In(locale).NoLineEnd)
			}
		}
	}
	return out
}

// Pull is what people are told of a pull request before they approve it.
type Pull struct{ CI, To, Title, Body string } // Title and Body are the agent's

// PullOf returns a payload's pull request, and false if it opens none. Once the action has ended, it has no CI.
func PullOf(x *conversation.Action, p conversation.Payload, locale string) (out Pull, ok bool) {
	if p.Push == nil {
		return Pull{}, false
	}
	w, branch := actionWordsOf.In(locale), ""
	if x.Pushed != nil {
		branch = x.Pushed.Branch
	}
	switch {
	case x.Status.Over():
	case p.Push.CI == tenancy.CISkip:
		out.CI = w.PushSkips
	default:
		out.CI = w.PushRuns
	}
	out.To = fill(w.PushTo, "repository", language.OneLine(p.Push.Repository), "into", language.OneLine(p.Push.Into),
		"commit", p.Push.Commit[:min(len(p.Push.Commit), 12)], "branch", language.OneLine(branch))
	var said struct{ Title, Body string }
	if json.Unmarshal([]byte(p.Arguments), &said) != nil {
		said.Body = p.Arguments
	}
	out.Title, out.Body = said.Title, said.Body
	return out, true
}

// Readers says who can read a conversation, by the rule of its page.
func Readers(s *conversation.Conversation, locale string) string {
	if s.ChannelType == "im" {
		return actionWordsOf.In(locale).ReadDirect
	}
	return actionWordsOf.In(locale).ReadHere
}
