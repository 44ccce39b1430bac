package card

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// The callback of the form that asks for a decision, and NewMatter, the Home tab's button that opens it. Its blocks are
// called like the fields of task.Matter, and the fields in them MatterInput.
const (
	MatterCallback = "ringi_matter_modal"
	NewMatter      = "new_matter"
	MatterInput    = "matter_input"
)

// The fields of the form.
const (
	MatterKind        = "matter"
	MatterTitle       = "title"
	MatterAmount      = "amount"
	MatterDescription = "description"
	MatterFiles       = "file"
	MatterKept        = "kept" // those of the files of an earlier version that stay
)

// MatterModal asks for a decision by the form of some settings, and for the place of its cards.
func MatterModal(locale string, s tenancy.Settings) slack.ModalViewRequest {
	w := askWordsOf.In(locale)
	blocks := append(w.matter(s, task.Matter{}), w.files(), w.place())
	return modal(MatterCallback, w.MatterTitle, w.Submit, w.Close, "", blocks...)
}

// form draws the one message of a request for a decision: the newest steps, and before there are any what the form
// says.
func (d drawing) form() face {
	w, m, e := d.w, d.a.Matter(), d.a.Head.Ended
	if p := d.a.Process(); p != nil && len(p.Steps) > 0 {
		return d.asks(task.CardProcess, p.Key())
	}
	d.settled = true
	b := d.effects(explain.SumUp(w.Locale, m.Steps(w.Locale, tenancy.DecideTool)),
		maxPages).with(d.described(m, maxPages)).bounded()
	f := face{w.FormHeader, yellow, nil}.with(header(w.FormHeader)).with(b.blocks...)
	switch {
	case e != nil && e.As == task.TaskRefused:
		f.colour = grey
		return f.with(d.refused().blocks...)
	case e != nil:
		return d.outcome(f)
	case d.a.Head.Parked != nil:
		return d.parked(f, "")
	}
	return f.with(d.enclosed()...).with(d.waitNote()...)
}

// matter are the fields of the form, with what was typed in them before. What the settings offer no more is chosen
// anew.
func (w *askWords) matter(s tenancy.Settings, was task.Matter) []slack.Block {
	kinds := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, MatterInput)
	for _, kind := range s.MatterNames() {
		option := slack.NewOptionBlockObject(kind, label(tenancy.MatterCalled(kind, w.Locale)), nil)
		if kinds.Options = append(kinds.Options, option); kind == was.Kind {
			kinds.InitialOption = option
		}
	}
	text := func(field, is string, most int) *slack.InputBlock {
		return slack.NewInputBlock(field, label(w.Matter[field]), nil, &slack.PlainTextInputBlockElement{
			Type: slack.METPlainTextInput, ActionID: MatterInput, MaxLength: most, Multiline: field == MatterDescription,
			InitialValue: is})
	}
	amount := text(MatterAmount, string(was.Amount), 0)
	amount.Optional, amount.Hint = true, label(w.MatterAmountHint)
	return []slack.Block{slack.NewInputBlock(MatterKind, label(w.Matter[MatterKind]), nil, kinds),
		text(MatterTitle, was.Title, task.MaxMatterTitle), amount,
		text(MatterDescription, was.Description, task.MaxMatterDescription)}
}

// files is the field for files, which Slack takes by their endings.
func (w *askWords) files() *slack.InputBlock {
	e := slack.NewFileInputBlockElement(MatterInput).WithFileTypes(task.FileTypes...).WithMaxFiles(task.MaxAttached)
	b := slack.NewInputBlock(MatterFiles, label(w.Matter[MatterFiles]), label(w.filesHint()), e)
	b.Optional = true
	return b
}

const maxOption = 75 // units of an option's text (https://docs.slack.dev/reference/block-kit/composition-objects)

// kept is the field in which people choose which files of an earlier version stay, all of them at first.
func (w *askWords) kept(files []task.ReadFile) []slack.Block {
	if len(files) == 0 {
		return nil
	}
	e := slack.NewCheckboxGroupsBlockElement(MatterInput)
	for _, f := range files {
		name := language.Clip(language.OneLine(cmp.Or(f.Name, f.ID)), maxOption)
		e.Options = append(e.Options, slack.NewOptionBlockObject(f.ID, label(name), label(explain.Size(f.Bytes))))
	}
	e.InitialOptions = e.Options
	b := slack.NewInputBlock(MatterKept, label(w.MatterKept), label(w.MatterKeptHint), e)
	b.Optional = true
	return []slack.Block{b}
}

// filesHint says which files can be attached, and how many bytes they may have together.
func (w *askWords) filesHint() string {
	return fill(w.MatterFilesHint, "types", strings.Join(task.FileTypes, ", "), "most", task.MaxAttached,
		"each", explain.Size(task.MaxFileBytes), "all", explain.Size(task.MaxFilesBytes))
}

// MatterFilesFault says which of a form's files can't be attached, or that they are too many or too large; "": all can.
// What they are is seen once they are fetched.
func MatterFilesFault(locale string, files []aggregate.SharedFile) string {
	w, sum, name := askWordsOf.In(locale), int64(0), ""
	for _, f := range files {
		if sum += f.Bytes; name == "" && (f.Bytes > task.MaxFileBytes || f.Bytes == 0) {
			name = language.ForeignLine(f.Name)
		}
	}
	if name == "" && sum <= task.MaxFilesBytes && len(files) <= task.MaxAttached {
		return ""
	}
	return strings.TrimSpace(fill(w.MatterFilesFault, "name", name, "hint", w.filesHint()))
}

// ReadMatter reads the form of some settings as it was typed. value returns what a field holds. The faults say by field
// what is wrong, in words.
func ReadMatter(locale string, s tenancy.Settings, value func(field string) string) (m task.Matter,
	faults map[string]string) {
	m, wrong := task.ReadMatter(task.Matter{Kind: value(MatterKind), Title: value(MatterTitle),
		Amount: rules.Decimal(value(MatterAmount)), Description: value(MatterDescription)}, s)
	for _, field := range wrong {
		if faults == nil {
			faults = map[string]string{}
		}
		most := map[string]int{MatterTitle: task.MaxMatterTitle, MatterDescription: task.MaxMatterDescription}[field]
		why := field
		if field == MatterDescription && strings.TrimSpace(value(field)) == "" {
			why = "empty"
		}
		faults[field] = fill(askWordsOf.In(locale).MatterFaults[why], "max", most, "digits", rules.MaxDigits,
			"people", task.MaxMentioned)
	}
	return m, faults
}

// MatterText is the form as the text of a request, in the language in which it is written, if that shows.
func MatterText(otherwise string, m task.Matter) string {
	w := askWordsOf.In(language.Detect(m.Title+"\n"+m.Description, otherwise))
	lines := []string{w.MatterAsked}
	kind, amount := tenancy.MatterCalled(m.Kind, w.Locale), explain.Money(w.Locale, m.Money())
	for _, of := range [][2]string{{MatterKind, kind}, {MatterTitle, m.Title}, {MatterAmount, amount}} {
		lines = append(lines, fill(w.MatterLine, "name", w.Matter[of[0]], "value", of[1]))
	}
	return strings.Join(append(lines, "", m.Description), "\n")
}

// The ids of what whoever asked does about a form that was sent back to them.
const (
	RefillAction   = "refill_process" // opens the form
	Withdraw       = "withdraw_task"  // asks whether the request shall be withdrawn
	RefillCallback = "refill_modal"
)

// OutcomeCopy begins the subject of the message that says how a task ended. Each end of each attempt at a process has
// its own, since Slack tells nobody that an earlier message has changed.
const OutcomeCopy = "OUTCOME"

// Outcome is the subject of the message that says how a task ended.
func Outcome(a *task.Aggregate) string {
	attempt, end := a.Execution(), a.Head.Ended
	if attempt == nil || end == nil {
		return OutcomeCopy
	}
	return fmt.Sprintf("%s#%d#%s", OutcomeCopy, attempt.Attempt, end.As)
}

// ParkedCopy begins the subject of the message by which whoever asked learns that a generation failed; its run follows.
const ParkedCopy = "PARKED#"

// ReturnedCopy and LeftCopy begin the subjects of the messages by which askers learn that something was given back to
// them, or waits for somebody who has left; the key of its row follows.
const ReturnedCopy, LeftCopy = "RETURNED#", "LEFT#"

type returnedWords struct {
	IsReturned, IsEdited, IsWithdrawn, IsOver, By, Waits, Next, Edited       string
	Refill, Withdraw, CopyText, CopyEdited, CopyEnded, CopyOver, CopyRetried string
	Title, Save, Reason, Means, Files                                        string
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
	f := v.showing(yellow, w.IsReturned).with(divider(), section(v.returnedBy(v.Gate)), contextLine(
		append(v.passed(), fill(w.Waits, "who", v.People(v.Gate.Askers, maxNamed)))...))
	f = f.with(v.edits(v.id)) // which a copy of the card hasn't: its gate waits no more
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
func (d drawing) returnedTo(subject, link string) Message {
	a, w, asks := d.a, returnedWordsOf.In(d.w.Locale), askWordsOf.In(d.w.Locale)
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
		people(inline(g.RejectionReason, maxReason)))
	blocks := []slack.Block{section(cut(reason, maxSection)), contextLine(w.Means + w.Files)}
	blocks = append(append(blocks, ask.matter(s, *a.Matter())...), append(ask.kept(a.FilesOf(r.ID)), ask.files())...)
	about := metadata(Review{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: r.Hash})
	return modal(RefillCallback, w.Title, w.Save, wordsOf.In(locale).ModalClose, about, blocks...)
}
