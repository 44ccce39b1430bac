package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// mostEnclosed is how many forwarded messages, and how many files, a card lists; the request's page has all.
const mostEnclosed = 10

// enclosed says what was read of the request's thread, which messages it forwards, and what was read of its files.
func (d drawing) enclosed() []slack.Block {
	if d.a.Request == nil {
		return nil
	}
	var blocks []slack.Block
	for _, lines := range [][]string{{Thread(d.a.Request.Thread, d.w.Locale)}, d.forwarded(), d.files()} {
		blocks = append(blocks, small(lines).blocks...)
	}
	return blocks
}

// Thread says what was read of a thread, or that it could not be read. It is empty if nothing was left out or read.
func Thread(t *aggregate.Thread, locale string) string {
	w := wordsOf.In(locale)
	switch {
	case t == nil || *t == aggregate.Thread{}:
		return ""
	case t.Failed:
		return w.ThreadFailed
	}
	return strings.TrimSpace(fill(w.ThreadRead, "n", t.Read, "left", t.LeftOut(locale, "⚠️ ")))
}

func (d drawing) forwarded() (lines []string) {
	for _, q := range d.a.Request.Forwarded {
		who := inline(q.Name, maxTool)
		if who == "" && len(task.Others("", q.User)) > 0 {
			who = d.w.mention(q.User)
		}
		line := fill(d.w.Forwards, "who", or(who, "?"))
		if q.Text != "" {
			line += d.w.ForwardRead
		}
		lines = append(lines, line+d.w.unshown(q))
	}
	return d.fewer(lines)
}

// unshown says what of a forwarded message can't be read.
func (w *words) unshown(q aggregate.Quoted) string {
	switch {
	case q.Text == "":
		return w.ForwardHidden
	case q.Cut:
		return fill(w.ForwardCut, "n", len([]rune(q.Text)))
	}
	return ""
}

func (d drawing) files() []string {
	var lines []string
	_, all := d.a.Attached()
	for _, f := range all {
		if f.Left != "" || d.a.Matter() != nil {
			lines = append(lines, d.notAttached(f, maxHeader))
		}
	}
	return slices.Concat(d.eachFile(), d.fewer(lines), d.w.filesNotRead(d.a.Request))
}

// filesNotRead says how many files a request has beyond those that are read.
func (w *words) filesNotRead(r *task.Request) []string {
	if r.MoreFiles <= 0 {
		return nil
	}
	return []string{fill(w.FilesNotRead, "n", r.MoreFiles, "most", len(r.Files))}
}

// eachFile lists what can't be read first.
func (d drawing) eachFile() (read []string) {
	if d.a.Read() == nil {
		for _, f := range d.a.Request.Files {
			read = append(read, fill(d.w.FileWaits, "name", fileName(d.w, f, maxHeader)))
		}
		return d.fewer(read)
	}
	for _, f := range d.a.Read().Files {
		if f.Why != "" || d.a.Matter() != nil && f.Left != "" { // said elsewhere
			continue
		}
		text := d.w.FileRead
		switch {
		case d.a.Matter() != nil:
			text = d.w.FileAttached
		case f.Shown < f.Characters:
			text = d.w.FilePart
		}
		line := fill(text, "name", fileName(d.w, f.SharedFile, maxHeader), "n", conversation.Grouped(f.Shown),
			"all", conversation.Grouped(f.Characters), "size", Size(f.Bytes), "hash", short(f))
		for _, r := range f.Remarks {
			line += " " + explain.FileRemark(d.w.Locale, r)
		}
		read = append(read, line)
	}
	return d.fewer(append(d.unreadFiles(), read...))
}

// unreadFiles says which files' contents no draft has. Drafts of a form have none: of these it says nothing.
func (d drawing) unreadFiles() (lines []string) {
	if d.a.Read() == nil || d.a.Matter() != nil {
		return nil
	}
	for _, f := range d.a.Read().Files {
		if f.Why != "" {
			why := explain.UnreadFile(d.w.Locale, f.Why)
			lines = append(lines, fill(d.w.FileUnread, "name", fileName(d.w, f.SharedFile, maxHeader), "why", why))
		}
	}
	return lines
}

func (d drawing) fewer(lines []string) []string {
	if more := len(lines) - mostEnclosed; more > 0 {
		return append(lines[:mostEnclosed], fill(d.w.EnclosedMore, "n", more))
	}
	return lines
}

// leftUnread says what of a request was not read, for a reply that has no card.
func (d drawing) leftUnread() string {
	lines := []string{""}
	if r := d.a.Request; r != nil {
		if t := r.Thread; t != nil && (t.Failed || t.LeftOut(d.w.Locale, "") != "") {
			lines = append(lines, Thread(t, d.w.Locale))
		}
		lines = append(lines, d.w.filesNotRead(r)...)
	}
	return strings.Join(append(lines, d.unreadFiles()...), "\n")
}

// Size is a number of bytes in the unit that people use.
func Size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprint(bytes, " B")
	case bytes < 1<<20:
		return fmt.Sprint((bytes+1<<9)>>10, " KB")
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}

// Redraft is the action_id of the button that drafts a corrected request anew. Its value is the task's id, a slash, and
// the hash of the text that the card shows.
const Redraft = "redraft"

// Changed returns the sentence that the author changed the request's message after what the drafts were made from, and
// whether that counts; "" if there is nothing to say. who names a person, and text shows what the message says now.
func Changed(a *task.Aggregate, locale string, who, text func(string) string) string {
	x, w := changeOf(a, locale, who, text), wordsOf.In(locale)
	if x.now != "" {
		x.now = fill(w.NowSays, "text", x.now)
	}
	return strings.Join(saying([]string{x.said, x.then, x.now}), language.InEach("", " ").In(locale))
}

// change is what Changed says, what people can do, and what the message says now.
type change struct{ said, then, now string }

func changeOf(a *task.Aggregate, locale string, who, text func(string) string) (x change) {
	c, w, e := a.Corrected(), wordsOf.In(locale), a.Head.Ended
	is := func(said string, then ...string) change {
		now := []string{text(c.Text)}
		if now[0] == "" {
			now = nil
		}
		is := &task.Request{Forwarded: c.Forwarded, Files: c.Files, MoreFiles: c.MoreFiles}
		now = append(now, w.nowEncloses(is, a.Request, who, text)...)
		if c.As != "" && then != nil {
			why := Sentence(w.Locale, c.As.Reason(), "", explain.NoRetry)
			if s := text(c.Declined); s != "" { // a model's words
				why = fill(w.Quoted, "text", s)
			}
			said = fill(w.RedraftDeclined, "who", who(c.Author), "why", why)
		} else {
			said = fill(said, "who", who(c.Author))
		}
		return change{said, strings.Join(then, ""), or(strings.Join(now, " · "), w.None)}
	}
	late := c != nil && (c.Late || e != nil || a.Execution() != nil) // it may have come before what it is too late for now
	switch answered := e != nil && e.As == task.TaskAnswered; {
	case c == nil, e != nil && e.Reason == task.ReasonDeleted: // its end says it
		return x
	case answered && e.Reason == task.ReasonBecameAnswer:
		return change{said: w.ChangedAnswer}
	case answered && e.Reason == task.ReasonBecameReason:
		return change{said: w.ChangedReason}
	case answered && c.Deleted:
		return x
	case answered:
		return is(w.ChangedAnswered)
	case late && c.Deleted:
		return change{said: w.DeletedLate}
	case late:
		return is(w.ChangedLate)
	case c.Deleted:
		return change{said: w.DeletedByAuthor}
	case c.Author != "":
		return is(w.ChangedByAuthor, w.redraftable(a))
	}
	return is(w.Changed, w.redraftable(a))
}

// Edited says who edited a request that was drafted anew, and briefly what it said before and says now.
func Edited(a *task.Aggregate, locale string, was *task.Request, who, text func(string) string) string {
	w, is, all := wordsOf.In(locale), a.Request, []string(nil)
	if was.Text != is.Text {
		before, now := legible.Parted(was.Text, is.Text)
		all = []string{fill(w.EditedText, "was", or(text(before), w.None), "is", or(text(now), w.None))}
	}
	all = append(all, w.nowEncloses(is, was, who, text)...)
	return fill(w.Edited, "who", who(or(a.Correction.Author, a.Head.Requester)), "edit", strings.Join(all, " · "))
}

// nowEncloses names what an edited message forwards and which files it has, each where that changed.
func (w *words) nowEncloses(is, was *task.Request, who, text func(string) string) (out []string) {
	if !slices.EqualFunc(is.Forwarded, was.Forwarded, func(x, y aggregate.Quoted) bool {
		return x.User == y.User && x.Name == y.Name && x.Text == y.Text
	}) {
		var from []string
		for _, q := range is.Forwarded {
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
	if !slices.EqualFunc(is.Files, was.Files, file) || is.MoreFiles != was.MoreFiles {
		var names []string
		for _, f := range is.Files {
			names = append(names, fill(w.Quoted, "text", or(text(cmp.Or(f.Name, f.ID)), "?")))
		}
		said := fill(w.NowFiles, "text", or(strings.Join(names, ", "), w.None))
		out = append(out, strings.Join(append([]string{said}, w.filesNotRead(is)...), " "))
	}
	return out
}

// redraftable says whether and when the requester can have the changed request drafted anew.
func (w *words) redraftable(a *task.Aggregate) string {
	switch c := a.Corrected(); {
	case c.As != "":
		return w.RedraftEdit
	case c.Blank():
		return w.RedraftBlank
	case a.Redraftable():
		return w.RedraftNow
	case a.RedraftableOnceItWaits():
		return w.RedraftSoon
	}
	return w.RedraftNever
}

// quoted is a text for a quotation, where nobody is mentioned: a mention is Ringi's.
func quoted(s string) string { return inline(s, maxReason) }

func (d drawing) changed() []slack.Block {
	x := changeOf(d.a, d.w.Locale, d.w.mention, quoted)
	if x.said == "" {
		return nil
	}
	lines := []string{"⚠️ " + strong(x.said), x.then}
	if x.now != "" {
		lines = append(lines, "> "+fill(d.w.NowSays, "text", people(x.now)))
	}
	return sectionOf(lines)
}

// redrafts returns the button by which the author has the changed request drafted anew.
func (d drawing) redrafts() []slack.BlockElement {
	if !d.a.Redraftable() {
		return nil
	}
	return []slack.BlockElement{button(d.w.Redraft, Redraft, d.taskID()+"/"+d.a.Correction.Saying(), "")}
}

func (d drawing) redrafted(v version) face {
	ending, said := d.w.IsRedrafted, d.w.Redrafted
	if v.repeated {
		ending, said = d.w.IsRepeated, fill(d.w.Repeated, "version", v.version+1)
	}
	return d.showing(v, yellow, ending).with(divider(), contextLine(said))
}
