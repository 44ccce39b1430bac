package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
)

// mostEnclosed is how many forwarded messages, and how many files, a card lists; the request's page has all.
const mostEnclosed = 10

// enclosed says what was read of the request's thread, which messages it forwards, and what was read of its files.
func (d drawing) enclosed() []slack.Block {
	var blocks []slack.Block
	for _, lines := range [][]string{d.thread(), d.forwarded(), d.files()} {
		if len(lines) > 0 {
			blocks = append(blocks, contextLine(strings.Join(lines, "\n")))
		}
	}
	return blocks
}

func (d drawing) thread() []string {
	if d.a.Request == nil {
		return nil
	}
	if said := Thread(d.a.Request.Thread, d.w.Locale); said != "" {
		return []string{said}
	}
	return nil
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
	return strings.TrimSpace(fill(w.ThreadRead, "n", t.Read) + " " + t.LeftOut(locale, "⚠️ "))
}

func (d drawing) forwarded() (lines []string) {
	if d.a.Request == nil {
		return nil
	}
	for _, q := range d.a.Request.Forwarded {
		who := or(inline(q.Name, maxTool), "")
		if who == "" && len(task.Others("", q.User)) > 0 {
			who = d.w.mention(q.User)
		}
		lines = append(lines, fill(d.w.Forwards, "who", or(who, "?"))+d.w.unshown(q))
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

// files says what was read of the files.
func (d drawing) files() []string {
	lines := d.eachFile()
	if d.a.Request != nil && d.a.Request.MoreFiles > 0 {
		lines = append(lines, fill(d.w.FilesNotRead, "n", d.a.Request.MoreFiles, "most", len(d.a.Request.Files)))
	}
	return lines
}

// eachFile lists what can't be read first.
func (d drawing) eachFile() []string {
	if d.a.Request == nil {
		return nil
	}
	var unread, read []string
	if d.a.Read() == nil {
		for _, f := range d.a.Request.Files {
			read = append(read, fill(d.w.FileWaits, "name", d.fileName(f)))
		}
		return d.fewer(read)
	}
	for _, f := range d.a.Read().Files {
		name := d.fileName(f.SharedFile)
		if f.Why != "" {
			unread = append(unread, fill(d.w.FileUnread, "name", name, "why", explain.UnreadFile(d.w.Locale, f.Why)))
			continue
		}
		text := d.w.FileRead
		if f.Shown < f.Characters {
			text = d.w.FilePart
		}
		line := fill(text, "name", name, "n", f.Shown, "all", f.Characters, "size", Size(f.Bytes), "hash", f.SHA256[:min(12, len(f.SHA256))])
		for _, r := range f.Remarks {
			line += " " + explain.FileRemark(d.w.Locale, r)
		}
		read = append(read, line)
	}
	return d.fewer(append(unread, read...))
}

func (d drawing) fileName(f aggregate.SharedFile) string {
	return or(inline(cmp.Or(f.Name, f.ID), maxHeader), "?")
}

func (d drawing) fewer(lines []string) []string {
	if more := len(lines) - mostEnclosed; more > 0 {
		return append(lines[:mostEnclosed], fill(d.w.EnclosedMore, "n", more))
	}
	return lines
}

// leftUnread says which files of a request were not read, for a reply that has no card.
func (d drawing) leftUnread() (text string) {
	if r := d.a.Request; r != nil && r.Thread != nil && (r.Thread.Failed || r.Thread.LeftOut(d.w.Locale, "") != "") {
		text += "\n" + Thread(r.Thread, d.w.Locale)
	}
	if r := d.a.Request; r != nil && r.MoreFiles > 0 {
		text += "\n" + fill(d.w.FilesNotRead, "n", r.MoreFiles, "most", len(r.Files))
	}
	if d.a.Read() == nil {
		return text
	}
	for _, f := range d.a.Read().Files {
		if f.Why != "" {
			text += "\n" + fill(d.w.FileUnread, "name", d.fileName(f.SharedFile), "why", explain.UnreadFile(d.w.Locale, f.Why))
		}
	}
	return text
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
