package card

import (
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// The ids of what whoever asked does about a form that was sent back to them.
const (
	RefillAction   = "refill_process" // opens the form
	Withdraw       = "withdraw_task"  // asks whether the request shall be withdrawn
	RefillCallback = "refill_modal"
)

// ReturnedCopy begins the subject of the message by which an asker learns that something was given back to them; the
// key of its row follows.
const ReturnedCopy = "RETURNED#"

type returnedWords struct {
	IsReturned, IsEdited, IsWithdrawn, IsOver, By, Waits, Next, Edited string
	Refill, Withdraw, CopyText, CopyEdited, CopyEnded, CopyOver        string
	Title, Save, Reason, Means, Files                                  string
}

var returnedWordsOf = language.Catalog[returnedWords]{Files: &embedded, Folder: "texts/returned"}

// returned draws a version that was given back to whoever asked.
func (v version) returned() face {
	w := returnedWordsOf.In(v.w.Locale)
	draw := func(colour, ending string, lines ...string) face {
		return v.over(colour, ending, append([]string{v.returnedBy(v.Gate)}, lines...)...)
	}
	who, _ := v.a.RefilledBy(v.key) // of a form the next version follows once its text is settled
	switch row := v.a.Returned(); {
	case v.next != nil || who != "":
		return draw(red, w.IsEdited, fill(w.Next, "version", v.version+1))
	case (row == nil || row.ID != v.id) && v.a.Withdrawn():
		return v.withEnd(draw(grey, w.IsWithdrawn), v.kind, v.key)
	case row == nil || row.ID != v.id:
		return v.withEnd(draw(grey, w.IsOver), v.kind, v.key)
	}
	f := draw(yellow, w.IsReturned, fill(w.Waits, "who", v.People(v.Gate.Askers, maxNamed)))
	if !v.beneath { // whoever approves has no button; each asker has a message of their own
		f = f.with(v.edits(v.id))
	}
	f.text += ": " + v.matter(&v, v.w.Quoted)
	return f.with(v.numbered())
}

// returnedBy says who gave something back, and why.
func (d drawing) returnedBy(g *aggregate.Gate) string {
	return d.rejectedAs(returnedWordsOf.In(d.w.Locale).By, g.Verdict)
}

// edits returns the buttons by which whoever asked fills in again or withdraws what was given back to them.
func (d drawing) edits(id string) slack.Block {
	w := returnedWordsOf.In(d.w.Locale)
	return slack.NewActionBlock(shownID(d.a.Head.TaskID, 0, d.a.Asked(id).Hash),
		button(w.Refill, RefillAction, id, slack.StylePrimary),
		button(w.Withdraw, Withdraw, d.taskID(), slack.StyleDanger))
}

// edited says who made a version of what was given back.
func (d drawing) edited(by string, version int) []slack.Block {
	if by == "" {
		return nil
	}
	return []slack.Block{contextLine(fill(returnedWordsOf.In(d.w.Locale).Edited, "version", version, "who",
		d.w.mention(by)))}
}

// returnedTo is the message by which one of the askers learns that a form was given back to them. Once that waits no
// more it says so.
func returnedTo(a *task.Aggregate, subject string, s tenancy.Settings, link string, around Around,
	now time.Time) Message {
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now, Around: around}
	w, asks := returnedWordsOf.In(s.Locale), askWordsOf.In(s.Locale)
	title := or(inline(a.Task.Title, maxListTitle), d.w.Untitled)
	row := a.Returned()
	if row == nil || row.Key() != subject {
		text := fill(w.CopyOver, "title", title)
		switch who, version := a.RefilledBy(subject); {
		case who != "":
			text = fill(w.CopyEdited, "title", title, "who", d.w.mention(who), "version", version)
		case a.Head.Ended != nil:
			text = fill(w.CopyEnded, "title", title)
		}
		return face{text, grey, sectioned("*" + text + "*" + opens(link, asks))}.message()
	}
	text := fill(w.CopyText, "title", title)
	return face{text, yellow, sectioned("*" + text + "*" + opens(link, asks))}.with(section(d.returnedBy(&row.Gate))).
		with(d.edits(row.ID)).with(contextLine(w.Means)).message()
}

// RefillModal draws the form that was given back, filled in; s are the settings by which a decision is asked for.
func RefillModal(a *task.Aggregate, r Review, locale string, s tenancy.Settings) slack.ModalViewRequest {
	w, ask, g := returnedWordsOf.In(locale), askWordsOf.In(locale), a.Asked(r.ID).Gate
	reason := fill(w.Reason, "who", wordsOf.In(locale).mention(g.RejectedBy), "reason",
		inline(g.RejectionReason, maxReason))
	blocks := []slack.Block{section(cut(reason, maxSection)), contextLine(w.Means + w.Files)}
	blocks = append(append(blocks, ask.matter(s, *a.Matter())...), append(ask.kept(keptFiles(a.FilesOf(r.ID))),
		ask.files())...)
	about := metadata(Review{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: r.Hash})
	return modal(RefillCallback, w.Title, w.Save, wordsOf.In(locale).ModalClose, about, blocks...)
}
