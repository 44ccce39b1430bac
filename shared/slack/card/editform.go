package card

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// EditForm is the form by which an asker edits a policy or steps, in Slack or on a page.
type EditForm struct {
	Open                       string // what opens it is called
	Reason, Means, Title, Save string
	Matter                     *task.Matter // the form that is filled in again, in place of parts
	Files                      []KeptFile   // that it has
	Misfits                    []string     // why the last edit was not taken, each with its field
	Parts                      []EditPart
}

// EditPart is a policy, or one step.
type EditPart struct {
	Title, Fixed string // Fixed: what can't be changed; empty: all can
	Fields       []EditField
}

// EditField is one value.
type EditField struct {
	ID, Name, Value string
	Optional        bool
	Person          bool             // Value is a Slack id
	Choices         []explain.Choice // all that it may be; nil: it is typed
	Most            int              // characters; 0: no limit is known
}

// People returns the fields that hold people.
func (f EditForm) People() (all []EditField) {
	for _, p := range f.Parts {
		for _, x := range p.Fields {
			if x.Person {
				all = append(all, x)
			}
		}
	}
	return all
}

// EditFormOf returns the form for the policy or the steps with this id. of has what the schemas of MCP servers' tools
// say of their arguments; without them it asks less. called names people, and said shows what others wrote. ok is false
// if there is no such version.
func EditFormOf(of explain.Schemas, a *task.Aggregate, id, locale string, called func(user string) string,
	said func(s string, most int) string) (f EditForm, ok bool) {
	w, g := returnedWordsOf.In(locale), a.GivenBackBy(id)
	f = EditForm{Open: w.Edit, Means: w.Means, Title: w.Title, Save: w.Save}
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
	if f.Matter = a.Matter(); f.Matter != nil {
		f.Open = w.Refill
		f.Means += w.Same
		f.Files = keptFiles(a.FilesOf(id))
		return f, true
	}
	steps := a.StepsWith(id)
	f.Means += "\n" + w.Pinned
	for i, s := range steps {
		inputs, _ := of.Inputs(locale, s, steps[:i])
		f.Parts = append(f.Parts, w.part(locale, s, inputs, said))
	}
	for _, m := range a.MisfitsOf(id) {
		f.Misfits = append(f.Misfits, f.unfit(w, m))
	}
	return f, len(steps) > 0
}

func (w *returnedWords) part(locale string, s task.Step, inputs []explain.Input,
	said func(string, int) string) EditPart {
	own, _ := catalog.Named(s.Tool)
	name := said(cmp.Or(own.Title.In(locale), s.ToolTitle, s.Tool), maxToolName)
	p := EditPart{Title: fill(w.Step, "n", s.Order, "tool", name)}
	var fixed []string
	for n, x := range inputs {
		if x.Said != "" {
			fixed = append(fixed, said(x.Name, maxToolName)+" = "+said(x.Said, maxToolName))
			continue
		}
		f := EditField{ID: editID(s.Order, n), Name: legible.Clip(x.Name, maxToolName), Value: fmt.Sprint(x.Value),
			Person: x.Person, Choices: x.Choices, Most: x.MaxLength}
		switch x.Value.(type) {
		case bool:
			f.Choices = []explain.Choice{{Value: "true", Text: w.Yes}, {Value: "false", Text: w.No}}
		case string:
			f.Optional = x.MinLength == 0 && x.Choices == nil && !x.Person && !x.Needed
		}
		if x.Unused {
			f.Value, f.Optional, f.Name = "", true, fill(w.Unused, "name", f.Name)
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

// Mistake says why what was typed can't be saved, and at which field: of a step as a whole at its first one, and of all
// steps at the first one of all.
func (f EditForm) Mistake(locale string, m task.Misfit) (id, text string) {
	at, _ := f.at(m)
	return at.ID, returnedWordsOf.In(locale).why(at, m)
}

// at returns the field of a misfit, and the number of its part.
func (f EditForm) at(m task.Misfit) (x EditField, part int) {
	for i, p := range f.Parts {
		for _, field := range p.Fields {
			if field.ID == editID(m.Order, m.Field) {
				return field, i
			}
			if x.ID == "" || i+1 == m.Order && part != i {
				x, part = field, i
			}
		}
	}
	return x, part
}

// unfit says in a line why one value was not taken.
func (f EditForm) unfit(w *returnedWords, m task.Misfit) string {
	x, part := f.at(m)
	name := x.Name
	switch {
	case m.Order == 0 || len(f.Parts) == 0:
		return w.why(EditField{}, m)
	case m.Field < 0:
		name = ""
	}
	where := strings.TrimSuffix(f.Parts[part].Title+" › "+name, " › ")
	return fill(w.UnfitAt, "where", where, "why", w.why(x, m))
}

// unfits says in a section why the last edit was not taken.
func (f EditForm) unfits(w *returnedWords) string {
	return cut("*"+w.Unfit+"*\n"+strings.Join(f.Misfits, "\n"), maxSection)
}

// why says why what was typed in a field was not taken: where it is chosen, what may be chosen.
func (w *returnedWords) why(x EditField, m task.Misfit) string {
	switch {
	case m.Why == task.MisfitForm && x.Person:
		return w.AnyMember
	case m.Why == task.MisfitChoice && x.Choices != nil:
		var all []string
		for _, choice := range x.Choices {
			all = append(all, choice.Text)
		}
		m.Limit = strings.Join(all, " / ")
	}
	return fill(w.Misfits[m.Why], "limit", inline(m.Limit, maxDetail), "max", task.MaxPolicy)
}

// maxEditBlocks is how many blocks a dialog has (https://docs.slack.dev/reference/views/modal-views).
const maxEditBlocks = 100

// EditModal draws the form; s are the settings by which a decision is asked for. ok is false if there is no such
// version, or if Slack's dialogs can't hold it: then the console's page does.
func EditModal(a *task.Aggregate, r Review, locale string, s tenancy.Settings, of explain.Schemas) (
	view slack.ModalViewRequest, ok bool) {
	w, words := wordsOf.In(locale), returnedWordsOf.In(locale)
	f, ok := EditFormOf(of, a, r.ID, locale, w.mention, inline)
	if !ok || !f.fits() {
		return view, false
	}
	blocks := []slack.Block{section(cut(f.Reason, maxSection))}
	if len(f.Misfits) > 0 {
		blocks = append(blocks, section(f.unfits(words)))
	}
	blocks = append(blocks, contextLine(f.Means))
	if f.Matter != nil {
		ask := askWordsOf.In(locale)
		blocks = append(append(blocks, ask.matter(s, *f.Matter)...), append(ask.kept(f.Files), ask.files())...)
	}
	for _, p := range f.Parts {
		if p.Title != "" {
			blocks = append(blocks, divider(), section("*"+p.Title+"*"))
		}
		for _, x := range p.Fields {
			blocks = append(blocks, words.field(x))
		}
		if p.Fixed != "" {
			blocks = append(blocks, contextLine(cut(p.Fixed, maxSection)))
		}
	}
	about := metadata(Review{Type: r.Type, ID: ident(r.ID), TaskID: ident(r.TaskID), Hash: r.Hash})
	return modal(EditCallback, f.Title, f.Save, w.ModalClose, about, blocks...), true
}

// fits reports whether Slack's dialogs can hold the form: there is something to type, in not too many blocks.
func (f EditForm) fits() bool {
	if m := f.Matter; m != nil && (units(m.Title) > task.MaxMatterTitle || units(m.Description) > task.MaxMatterDescription) {
		return false
	}
	blocks, fields := 2, 0 // the reason, and what an edit does
	if len(f.Misfits) > 0 {
		blocks++
	}
	for _, p := range f.Parts {
		if p.Title != "" {
			blocks += 2
		}
		if p.Fixed != "" {
			blocks++
		}
		fields += len(p.Fields)
		if slices.ContainsFunc(p.Fields, func(x EditField) bool { return units(x.Value) > MaxTyped }) {
			return false
		}
	}
	return f.Matter != nil || fields > 0 && blocks+fields <= maxEditBlocks
}

const maxOneLine = 60 // units of a value whose field has one line

// Lines reports whether the field has several lines.
func (x EditField) Lines() bool {
	return units(x.Value) > maxOneLine || strings.Contains(x.Value, "\n")
}

func (w *returnedWords) field(x EditField) slack.Block {
	var input slack.BlockElement
	switch {
	case x.Person:
		people := slack.NewOptionsSelectBlockElement(slack.OptTypeUser, nil, EditInput)
		people.InitialUser = x.Value
		input = people
	case x.Choices != nil:
		choice := slack.NewOptionsSelectBlockElement(slack.OptTypeStatic, nil, EditInput)
		for _, c := range x.Choices {
			option := slack.NewOptionBlockObject(c.Value, label(c.Text), nil)
			if choice.Options = append(choice.Options, option); c.Value == x.Value {
				choice.InitialOption = option
			}
		}
		input = choice
	default:
		most := MaxTyped
		if x.Most > 0 && units(x.Value) <= x.Most {
			most = min(most, x.Most)
		}
		input = &slack.PlainTextInputBlockElement{Type: slack.METPlainTextInput, ActionID: EditInput, InitialValue: x.Value,
			MaxLength: most, Multiline: x.Lines()}
	}
	field := slack.NewInputBlock(x.ID, label(legible.Clip(x.Name, maxToolName)), nil, input)
	field.Optional = x.Optional
	return field
}
