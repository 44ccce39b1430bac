package card

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// Redraft is the action_id of the button that drafts a corrected request anew. Its value is the task's id,
// a slash, and the hash of the text that the card shows.
const Redraft = "redraft"

// Changed returns the sentence that the author changed the request's message after what the drafts were made from, and
// whether that counts; "" if there is nothing to say. who names a person, and text shows what the message says now.
func Changed(a *task.Aggregate, locale string, who, text func(string) string) string {
	c, w, e := a.Corrected(), wordsOf.In(locale), a.Head.Ended
	is := func(said string) string {
		now := []string{text(c.Text)}
		if now[0] == "" {
			now = nil
		}
		return fill(said, "then", w.redraftable(a, text), "who", who(c.Author), "text",
			or(strings.Join(append(now, w.nowEncloses(a, who, text)...), " · "), w.None))
	}
	late := c != nil && (c.Late || e != nil || a.Execution() != nil) // it may have come before what it is too late for now
	switch answered := e != nil && e.As == task.TaskAnswered; {
	case c == nil, e != nil && e.Reason == task.ReasonDeleted: // its end says it
		return ""
	case answered && e.Reason == task.ReasonBecameReason:
		return w.ChangedReason
	case answered && c.Deleted:
		return ""
	case answered:
		return is(w.ChangedAnswered)
	case late && c.Deleted:
		return w.DeletedLate
	case late:
		return is(w.ChangedLate)
	case c.Deleted:
		return is(w.DeletedByAuthor)
	case c.Author != "":
		return is(w.ChangedByAuthor)
	}
	return is(w.Changed)
}

// nowEncloses names what an edited message forwards and which files it has, each where that changed.
func (w *words) nowEncloses(a *task.Aggregate, who, text func(string) string) (out []string) {
	c, was := a.Corrected(), a.Request
	if !slices.EqualFunc(c.Forwarded, was.Forwarded, func(x, y aggregate.Quoted) bool {
		return x.User == y.User && x.Name == y.Name && x.Text == y.Text
	}) {
		var from []string
		for _, q := range c.Forwarded {
			name := or(text(q.Name), "?")
			if len(task.Others("", q.User)) > 0 {
				name = who(q.User)
			}
			said := strings.TrimSpace(name + " " + text(strings.ReplaceAll(q.Text, "\n", " ")))
			from = append(from, said+w.unshown(q))
		}
		out = append(out, fill(w.NowForwards, "text", or(strings.Join(from, ", "), w.None)))
	}
	file := func(x, y aggregate.SharedFile) bool { return x.ID == y.ID }
	if !slices.EqualFunc(c.Files, was.Files, file) || c.MoreFiles != was.MoreFiles {
		var names []string
		for _, f := range c.Files {
			names = append(names, or(text(cmp.Or(f.Name, f.ID)), "?"))
		}
		said := fill(w.NowFiles, "text", or(strings.Join(names, ", "), w.None))
		if c.MoreFiles > 0 {
			said += " " + fill(w.FilesNotRead, "n", c.MoreFiles, "most", len(c.Files))
		}
		out = append(out, said)
	}
	return out
}

// redraftable says whether and when the requester can have the changed request drafted anew.
func (w *words) redraftable(a *task.Aggregate, text func(string) string) string {
	switch c := a.Corrected(); {
	case c.As != "":
		return fill(w.RedraftDeclined, "why", or(text(c.Declined), w.sentence(c.As.Reason(), "")))
	case c.Blank():
		return w.RedraftBlank
	case a.Redraftable():
		return w.RedraftNow
	case a.RedraftableOnceItWaits():
		return w.RedraftSoon
	}
	return w.RedraftNever
}

// isChanged returns that sentence as a card says it.
func (d drawing) isChanged() string {
	return Changed(d.a, d.w.Locale, d.w.mention, func(s string) string { return people(inline(s, maxReason)) })
}

// changed draws that sentence.
func (d drawing) changed() []slack.Block {
	said := d.isChanged()
	if said == "" {
		return nil
	}
	return []slack.Block{contextLine(said)}
}

// redrafts returns the button by which the author has the changed request drafted anew.
func (d drawing) redrafts() []slack.BlockElement {
	if !d.a.Redraftable() {
		return nil
	}
	return []slack.BlockElement{button(d.w.Redraft, Redraft, d.taskID()+"/"+d.a.Correction.Saying(), "")}
}

// AskAgain is the action_id of the button by which the requester asks again without the words of others. Its value is
// the task's id.
const AskAgain = "ask_again"

// asksAgain returns that button. Copies for others have none.
func (d drawing) asksAgain() []slack.BlockElement {
	if !d.a.AsksAgain() || d.copy != nil && d.copy.User != d.a.Head.Requester {
		return nil
	}
	return []slack.BlockElement{button(d.w.AskAgain, AskAgain, d.taskID(), "")}
}

// redrafted draws a version that closed because its request is drafted anew.
func (d drawing) redrafted(v version) face {
	ending, said := d.w.IsRedrafted, d.w.Redrafted
	if v.repeated {
		ending, said = d.w.IsRepeated, fill(d.w.Repeated, "version", v.version+1)
	}
	return d.titled(v, yellow, ending).with(v.body.blocks...).with(divider(), contextLine(said))
}
