package card

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// The ids of what whoever asked does about a policy or steps that were given back to them.
const (
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
	IsReturned, IsEdited, IsOver, By, Waits, Next, Edited             string
	Edit, OnPage, OnlyOnPage, Withdraw, CopyText, CopyOver            string
	GiveBack, GiveBackAbout, Anew, AnewAbout                          string // in a rejection's form
	Title, Save, Reason, Means, Pinned, Step, Policy, Fixed, NoFields string
	Yes, No                                                           string
	Misfits                                                           map[string]string // by tool.MisfitWhy
}

var returnedWordsOf = language.Catalog[returnedWords]{Files: &embedded, Folder: "texts/returned"}

// EditForm is the form by which an asker edits a policy or steps, in Slack or on a page.
type EditForm struct {
	Reason, Means, Title, Save, Yes, No string
	Parts                               []EditPart
}

// EditPart is a policy, or one step.
type EditPart struct {
	Title, Fixed string // Fixed: what can't be changed; empty: all can
	Fields       []EditField
}

// EditField is one value.
type EditField struct {
	ID, Name, Value string
	YesNo, Optional bool
}

// EditFormOf returns the form for the policy or the steps with this id. called names people, and said shows what others
// wrote. ok is false if there is no such version.
func EditFormOf(a *task.Aggregate, id, locale string, called func(user string) string,
	said func(s string, most int) string) (f EditForm, ok bool) {
	w, g := returnedWordsOf.In(locale), a.GateWith(id)
	f = EditForm{Means: w.Means, Title: w.Title, Save: w.Save, Yes: w.Yes, No: w.No}
	if g == nil {
		return f, false
	}
	f.Reason = fill(w.Reason, "who", called(g.RejectedBy), "reason", said(g.RejectionReason, maxReason))
	for _, p := range a.Prompts {
		if p.ID == id {
			f.Parts = []EditPart{{Fields: []EditField{{ID: editPolicy, Name: w.Policy, Value: p.Content}}}}
			return f, true
		}
	}
	steps := a.StepsWith(id)
	f.Means += "\n" + w.Pinned
	for i, s := range steps {
		f.Parts = append(f.Parts, w.part(locale, s, steps[:i], said))
	}
	return f, len(steps) > 0
}

func (w *returnedWords) part(locale string, s task.Step, earlier []task.Step, said func(string, int) string) EditPart {
	own, _ := catalog.Named(s.Tool)
	name := said(cmp.Or(own.Title.In(locale), s.ToolTitle, s.Tool), maxToolName)
	p := EditPart{Title: fill(w.Step, "n", s.Order, "tool", name)}
	inputs, _ := explain.Inputs(locale, s, earlier)
	var fixed []string
	for n, x := range inputs {
		if x.Said != "" {
			fixed = append(fixed, said(x.Name, maxToolName)+" = "+said(x.Said, maxToolName))
			continue
		}
		f := EditField{ID: editID(s.Order, n), Name: legible.Clip(x.Name, maxToolName), Value: fmt.Sprint(x.Value)}
		switch x.Value.(type) {
		case bool:
			f.YesNo = true
		case string:
			f.Optional = true
		}
		p.Fields = append(p.Fields, f)
	}
	switch {
	case len(fixed) > 0:
		p.Fixed = fill(w.Fixed, "list", strings.Join(fixed, " · "))
	case len(p.Fields) == 0:
		p.Fixed = w.NoFields
	}
	return p
}

// ReadEdit reads the fields of the form: a policy's text, or values of steps, by order and number. Others are left out.
func ReadEdit(fields map[string]string) (policy string, steps map[[2]int]string) {
	steps = map[[2]int]string{}
	for id, text := range fields {
		order, n, value := strings.Cut(strings.TrimPrefix(id, editValue), "_")
		at, err := strconv.Atoi(order)
		number, wrong := strconv.Atoi(n)
		if value && err == nil && wrong == nil && id == editID(at, number) {
			steps[[2]int{at, number}] = text
		}
	}
	return fields[editPolicy], steps
}

func editID(order, n int) string { return editValue + strconv.Itoa(order) + "_" + strconv.Itoa(n) }

// Mistake says why what was typed can't be saved, and at which field; why is a tool.MisfitWhy. A field of -1 stands
// for the first one of the step, and an order of 0 for the first one of all.
func (f EditForm) Mistake(locale, why, limit string, order, field int) (id, text string) {
	w := returnedWordsOf.In(locale)
	id = editID(order, field)
	has := func(p EditPart) bool {
		return slices.ContainsFunc(p.Fields, func(x EditField) bool { return x.ID == id })
	}
	if !slices.ContainsFunc(f.Parts, has) {
		id = ""
		for i, p := range f.Parts {
			if len(p.Fields) > 0 && (id == "" || i+1 == order) {
				id = p.Fields[0].ID
			}
		}
	}
	return id, fill(w.Misfits[why], "limit", legible.Clip(limit, maxDetail), "max", task.MaxPolicy)
}

// maxEditBlocks is how many blocks a dialog has (https://docs.slack.dev/reference/views/modal-views).
const maxEditBlocks = 100

// EditModal draws the form. ok is false if there is no such version, or if Slack's dialogs can't hold it: then the
// console's page does.
func EditModal(a *task.Aggregate, r Review, locale string) (view slack.ModalViewRequest, ok bool) {
	w, words := wordsOf.In(locale), returnedWordsOf.In(locale)
	f, ok := EditFormOf(a, r.ID, locale, w.mention, inline)
	if !ok {
		return view, false
	}
	blocks := []slack.Block{section(cut(f.Reason, maxSection)), contextLine(f.Means)}
	for _, p := range f.Parts {
		if p.Title != "" {
			blocks = append(blocks, divider(), section("*"+p.Title+"*"))
		}
		for _, x := range p.Fields {
			if ok = ok && units(x.Value) <= MaxTyped; ok {
				blocks = append(blocks, words.field(x))
			}
		}
		if p.Fixed != "" {
			blocks = append(blocks, contextLine(cut(p.Fixed, maxSection)))
		}
	}
	about := metadata(Review{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: r.Hash})
	fields := slices.ContainsFunc(f.Parts, func(p EditPart) bool { return len(p.Fields) > 0 })
	view = modal(EditCallback, f.Title, f.Save, w.ModalClose, about, blocks...)
	return view, ok && fields && len(blocks) <= maxEditBlocks
}

const maxOneLine = 60 // units of a value whose field has one line

func (w *returnedWords) field(x EditField) slack.Block {
	var input slack.BlockElement
	if x.YesNo {
		yes := slack.NewOptionBlockObject("true", label(w.Yes), nil)
		no := slack.NewOptionBlockObject("false", label(w.No), nil)
		choice := slack.NewRadioButtonsBlockElement(EditInput, yes, no)
		if choice.InitialOption = no; x.Value == "true" {
			choice.InitialOption = yes
		}
		input = choice
	} else {
		input = &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: EditInput, InitialValue: x.Value,
			MaxLength: MaxTyped, Multiline: units(x.Value) > maxOneLine || strings.Contains(x.Value, "\n")}
	}
	field := slack.NewInputBlock(x.ID, label(legible.Clip(x.Name, maxToolName)), nil, input)
	field.Optional = x.Optional
	return field
}

// returned draws a version that was given back to whoever asked.
func (d drawing) returned(v version) face {
	w, r := returnedWordsOf.In(d.w.Locale), d.routeOf(&v)
	by := d.returnedBy(&v.gate)
	draw := func(colour, ending string, lines ...string) face {
		return d.showing(v, colour, ending).with(divider(), contextLine(append(append(r.passed(), by), lines...)...))
	}
	switch row := d.a.Returned(); {
	case v.next != nil:
		return draw(red, w.IsEdited, fill(w.Next, "version", v.version+1))
	case row == nil || row.Asks().ID != v.id:
		return d.withEnd(draw(grey, w.IsOver), v.kind, v.key)
	}
	askers := d.route(&v.gate, false).asked(v.gate.Askers, maxPath)
	f := draw(yellow, w.IsReturned, fill(w.Waits, "who", askers))
	if !d.beneath { // whoever approves has no button; each asker has a message of their own
		f = f.with(d.edits(v.kind, v.id)...)
	}
	f = f.with(d.version(v.version))
	f.text += ": " + d.matter(&v, d.w.Quoted)
	return f
}

// returnedBy says who gave something back, and why.
func (d drawing) returnedBy(g *aggregate.Gate) string {
	return fill(returnedWordsOf.In(d.w.Locale).By, "who", d.w.mention(g.RejectedBy), "reason",
		or(inline(g.RejectionReason, maxReason), d.w.None))
}

// edits returns the buttons by which whoever asked edits or withdraws what was given back to them.
func (d drawing) edits(kind aggregate.CardType, id string) []slack.Block {
	w, hash := returnedWordsOf.In(d.w.Locale), d.a.AskedHash(id)
	withdraw := button(w.Withdraw, Withdraw, d.taskID(), slack.StyleDanger)
	row := func(b ...slack.BlockElement) slack.Block {
		return slack.NewActionBlock(shownID(d.a.Head.TaskID, 0, hash), b...)
	}
	if _, fits := EditModal(d.a, Review{ID: id}, d.w.Locale); fits {
		return []slack.Block{row(button(w.Edit, EditAction+string(kind), id, slack.StylePrimary), withdraw)}
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
func (d drawing) edited(by string, version int) []slack.Block {
	if by == "" {
		return nil
	}
	w := returnedWordsOf.In(d.w.Locale)
	return []slack.Block{contextLine(fill(w.Edited, "version", version, "who", d.w.mention(by)))}
}

// returnedTo is the message by which one of the askers learns that something was given back to them. Once that waits no
// more it says so.
func returnedTo(a *task.Aggregate, key string, s tenancy.Settings, link string, now time.Time) Message {
	d := drawing{a: a, settings: s, w: wordsOf.In(s.Locale), now: now}
	w, asks := returnedWordsOf.In(s.Locale), askWordsOf.In(s.Locale)
	title := nameOf(a, asks, "{text}")
	row := a.Returned()
	if row == nil || row.Key() != key {
		text := fill(w.CopyOver, "title", title)
		return face{text, grey, sectioned("*" + text + "*" + opens(link, asks))}.message()
	}
	q, g := row.Asks(), a.GateAt(key)
	text := fill(w.CopyText, "title", title)
	return face{text, yellow, sectioned("*" + text + "*" + opens(link, asks))}.with(section(d.returnedBy(g))).
		with(d.edits(q.Kind, q.ID)...).with(contextLine(w.Means)).message()
}
