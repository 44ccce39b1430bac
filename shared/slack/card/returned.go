package card

import (
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// The ids of what gives a policy or steps back to whoever asked, and of what they do about them then.
const (
	ReturnAction = "return_"       // followed by the kind; opens the form
	EditAction   = "edit_"         // followed by the kind; opens the form
	Withdraw     = "withdraw_task" // asks whether the request shall be withdrawn
	EditCallback = "edit_modal"
	EditInput    = "edit_input"

	editPolicy = "edit_policy"
	editValue  = "edit_" // followed by a step's order and the number of one of its values
)

// ReturnedCopy begins the subject of the message by which an asker learns that something was given back to them; the
// key of its row follows.
const ReturnedCopy = "RETURNED#"

type returnedWords struct {
	IsReturned, IsEdited, IsWithdrawn, IsOver, By, Waits, Next, Edited, EditTried, Checking string
	Edit, Refill, OnPage, OnlyOnPage, Withdraw                                              string
	CopyText, CopyUnfit, CopyRefused, CopyEdited, CopyEnded, CopyOver                       string
	Unfit, UnfitAt                                                                          string // of an edit
	Return, ReturnTitle, ReturnSend, ReturnReason, ReturnHint                               string // of a return
	ReturnAbout, Anew, AnewAbout                                                            string // of a rejection
	Title, Save, Reason, Means, Same, Pinned, Step, Policy, Fixed, Unused, NoFields         string
	Yes, No, AnyMember                                                                      string
	Misfits                                                                                 map[task.MisfitWhy]string
}

var returnedWordsOf = language.Catalog[returnedWords]{Files: &embedded, Folder: "texts/returned"}

// Return is the form by which somebody returns what a gate asks about to whoever asked.
type Return struct {
	Label string // of the button
	Lead  string // asks for the reason, and says what follows and whose stamps end
}

// ReturnOf returns that form for the gate with this id. may is false if it can't be returned. called names people.
func ReturnOf(a *task.Aggregate, id, locale string, called func(user string) string) (x Return, may bool) {
	w, g := returnedWordsOf.In(locale), a.GateWith(id)
	if g == nil || !a.MayGiveBack(id) {
		return x, false
	}
	return Return{w.Return, w.ReturnReason + routeWordsOf.In(locale).endsStamps(g, called)}, true
}

// rejects returns the buttons by which whoever is asked returns a version to whoever asked, and rejects it. Without a
// rule a form is only returned, and what else there is has the specification's buttons: the rejection's form asks.
func (r routed) rejects(v version, no slack.BlockElement) (out []slack.BlockElement) {
	back, may := ReturnOf(r.a, v.id, r.w.Locale, r.w.mention)
	form := may && r.a.Matter() != nil
	if may && (form || r.gate.Ruled()) {
		out = append(out, button(back.Label, ReturnAction+string(v.kind), v.id, ""))
	}
	if !form || r.gate.Ruled() {
		out = append(out, no)
	}
	return out
}

// giveBack is the form of ReturnOf.
func (d *taskDialogs) giveBack(r Review, draw drawing, v *version, x Return) slack.ModalViewRequest {
	w := returnedWordsOf.In(draw.w.Locale)
	about := metadata(Rejection{r.Type, ident(r.ID), ident(r.TaskID), r.Hash, r.Stage, v.gate.AskedSum,
		circulation.GiveBack})
	return modal(RejectionCallback, w.ReturnTitle, w.ReturnSend, draw.w.ModalClose, about,
		draw.about(v), section(x.Lead), reasonField(w.ReturnTitle, w.ReturnHint, 0))
}

// returned draws a version that was given back to whoever asked.
func (d drawing) returned(v version) face {
	w, r := returnedWordsOf.In(d.w.Locale), d.routeOf(&v)
	by := d.returnedBy(&v.gate)
	draw := func(colour, ending string, lines ...string) face {
		return d.showing(v, colour, ending).with(divider(), contextLine(append(append(r.passed(), by), lines...)...))
	}
	who, _ := d.a.EditorAfter(v.key) // of a form the next version follows once its text is settled
	switch row := d.a.Returned(); {
	case v.next != nil || who != "":
		return draw(red, w.IsEdited, fill(w.Next, "version", v.version+1))
	case (row == nil || row.Asks().ID != v.id) && d.a.Withdrawn():
		return d.withEnd(draw(grey, w.IsWithdrawn), v.kind, v.key)
	case row == nil || row.Asks().ID != v.id:
		return d.withEnd(draw(grey, w.IsOver), v.kind, v.key)
	}
	return d.waiting(v, draw(yellow, w.IsReturned, d.waits(v.id)))
}

// unfit draws steps that one of the askers wrote, and which do not fit their tools.
func (d drawing) unfit(v version) face {
	w := returnedWordsOf.In(d.w.Locale)
	f := d.showing(v, yellow, w.IsReturned).with(divider(), section(d.misfits(v.id)), contextLine(d.waits(v.id)))
	return d.waiting(v, f)
}

// misfits says why the last edit of a version was not taken.
func (d drawing) misfits(id string) string {
	form, _ := EditFormOf(nil, d.a, id, d.w.Locale, d.w.mention, inline)
	return form.unfits(returnedWordsOf.In(d.w.Locale))
}

// waits says for whom a version waits.
func (d drawing) waits(id string) string {
	people, g := d.a.ReturnedTo(id), d.a.GateWith(id)
	return fill(returnedWordsOf.In(d.w.Locale).Waits, "who", d.route(g, false).asked(people, maxPath))
}

// waiting adds the buttons of whoever asked to a card that waits for them.
func (d drawing) waiting(v version, f face) face {
	if !d.beneath { // whoever approves has no button; each asker has a message of their own
		f = f.with(d.edits(v.kind, v.id)...)
	}
	f = f.with(d.version(v.version))
	f.text += ": " + d.matter(&v, d.w.Quoted)
	return f
}

// returnedBy says who gave something back, and why.
func (d drawing) returnedBy(g *aggregate.Gate) string {
	return d.rejectedAs(returnedWordsOf.In(d.w.Locale).By, g.Verdict)
}

// edits returns the buttons by which whoever asked edits or withdraws what was given back to them.
func (d drawing) edits(kind aggregate.CardType, id string) []slack.Block {
	w, hash := returnedWordsOf.In(d.w.Locale), d.a.AskedHash(id)
	withdraw := button(w.Withdraw, Withdraw, d.taskID(), slack.StyleDanger)
	row := func(b ...slack.BlockElement) slack.Block {
		return slack.NewActionBlock(shownID(d.a.Head.TaskID, 0, hash), b...)
	}
	if f, is := EditFormOf(nil, d.a, id, d.w.Locale, d.w.mention, inline); is && f.fits() {
		return []slack.Block{row(button(f.Open, EditAction+string(kind), id, slack.StylePrimary), withdraw)}
	}
	if page := EditPage(d.Console, d.a.Ref(), id); page != "" {
		return []slack.Block{row(leadsTo("edit_on_page", w.OnPage, page), withdraw)}
	}
	return []slack.Block{contextLine(w.OnlyOnPage), row(withdraw)}
}

// EditPage returns the address of the console's form, empty if there is none.
func EditPage(console string, ref aggregate.Ref, id string) string {
	page := Page(console, ref)
	if page == "" {
		return ""
	}
	return page + "/edit/" + ident(id)
}

// edited says who made a version of what was given back.
func (d drawing) edited(by string, version int, s aggregate.GateStatus) []slack.Block {
	if by == "" {
		return nil
	}
	w := returnedWordsOf.In(d.w.Locale)
	text := w.Edited
	if s == aggregate.Generating {
		text = w.EditTried
	}
	return []slack.Block{contextLine(fill(text, "version", version, "who", d.w.mention(by)))}
}

// returnedTo is the message by which one of the askers learns that something was given back to them or, at the end of
// its subject, that an edit was not taken. Once that waits no more it says so.
func returnedTo(a *task.Aggregate, subject string, s tenancy.Settings, link string, around Around,
	now time.Time) Message {
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now, Around: around}
	w, asks := returnedWordsOf.In(s.Locale), askWordsOf.In(s.Locale)
	title := or(inline(a.Task.Title, maxListTitle), d.w.Untitled)
	row := a.Returned()
	if row == nil || Returned(a, row) != ReturnedCopy+subject {
		text := fill(w.CopyOver, "title", title)
		key, _, _ := strings.Cut(subject, "@")
		switch who, version := a.EditorAfter(key); {
		case who != "":
			text = fill(w.CopyEdited, "title", title, "who", d.w.mention(who), "version", version)
		case row != nil:
			text = fill(w.CopyRefused, "title", title)
		case a.Head.Ended != nil:
			text = fill(w.CopyEnded, "title", title)
		}
		return face{text, grey, sectioned("*" + text + "*" + opens(link, asks))}.message()
	}
	q, text, why := row.Asks(), fill(w.CopyText, "title", title), ""
	if len(a.MisfitsOf(q.ID)) > 0 {
		text, why = fill(w.CopyUnfit, "title", title), d.misfits(q.ID)
	} else {
		why = d.returnedBy(a.GateAt(row.Key()))
	}
	return face{text, yellow, sectioned("*" + text + "*" + opens(link, asks))}.with(section(why)).
		with(d.edits(q.Kind, q.ID)...).with(contextLine(w.Means)).message()
}

// Returned is the subject of the message by which the askers learn that a policy or steps wait for their edit: another
// one each time that an edit was not taken.
func Returned(a *task.Aggregate, row task.Gated) string {
	if p, steps := row.(*task.Process); steps && len(p.Misfits) > 0 {
		return ReturnedCopy + p.Key() + "@" + strconv.Itoa(p.Edits)
	}
	return ReturnedCopy + row.Key()
}
