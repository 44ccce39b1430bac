package task

import (
	"context"
	"net/http"
	"strings"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide/edit"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// editPage is the form in which whoever asked edits what was given back to them.
type editPage struct {
	card.EditForm
	Path, Back, Hash string
	Problem          string // of a form that was sent: what to do
	Parts            []editPart
}

type editPart struct {
	Title, Fixed string
	Fields       []web.Field
}

// showEdit shows the form to whoever may send it.
func (c *Pages) showEdit(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	id := r.PathValue("gate")
	hash := a.AskedHash(id)
	verdict := c.Maker().Check(r.Context(), c.Click(v, a.Ref(), id), edit.May(a.AskedBy(id), hash))
	if verdict.Err != nil {
		return c.refused(w, r, v, subject.Tried{}, verdict.Err)
	}
	if m := a.Matter(); m != nil {
		return c.showMatter(w, r, v, c.refillForm(r, v, a, hash, *m, func(string) bool { return true }))
	}
	return c.showForm(w, r, v, a, hash, nil, nil)
}

// saveEdit makes what was typed the next version, or shows the form again with what can't be saved.
func (c *Pages) saveEdit(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate) error {
	ctx, cancel := context.WithTimeout(r.Context(), subject.Within)
	defer cancel()
	if a.Matter() != nil {
		return c.refill(ctx, w, r, v, a)
	}
	id, fields := r.PathValue("gate"), map[string]string{}
	for name, values := range r.PostForm {
		if strings.HasPrefix(name, "edit_") {
			fields[name] = strings.ReplaceAll(values[0], "\r\n", "\n")
		}
	}
	c.membersOf(r, v, a, id, fields)
	f := edit.Form{Kind: a.AskedBy(id), Hash: r.PostFormValue("hash")}
	f.Policy, f.Steps = card.ReadEdit(fields)
	click := c.Click(v, a.Ref(), id)
	verdict := c.Maker().Check(ctx, click, f.Asks())
	if verdict.Err == nil {
		made, misfits, err := f.Made(a, id, v.Locale)
		if err == nil && len(misfits) == 0 && f.Kind == task.CardProcess {
			misfits, err = c.misfits(ctx, a, id, made.Steps, v.Locale, verdict.Settings)
		}
		if len(misfits) > 0 {
			return c.showForm(w, r, v, a, f.Hash, fields, misfits)
		}
		if verdict.Err = err; err == nil {
			verdict = c.Maker().Decide(ctx, click, f.Save(made))
		}
	}
	return c.Decided(w, r, v, c.page(), click, subject.Tried{Offer: aggregate.Offer{ID: id}}, verdict, "edit")
}

// membersOf replaces names of members, where many can't be listed to choose from, by their ids.
func (c *Pages) membersOf(r *http.Request, v *web.Viewer, a *task.Aggregate, id string, typed map[string]string) {
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil || len(m.People) <= web.MostToChoose {
		return
	}
	as := func(s string) string { return s }
	form, _ := card.EditFormOf(nil, a, id, v.Locale, as, func(s string, _ int) string { return s })
	for _, x := range form.People() {
		if users, _, more := m.Find(typed[x.ID], 1); typed[x.ID] != "" && len(users) == 1 && !more {
			typed[x.ID] = users[0].ID
		}
	}
}

// misfits compares edited steps with their tools at once; plan-process does so again, by what is allowed then.
func (c *Pages) misfits(ctx context.Context, a *task.Aggregate, id string, steps []task.Step, locale string,
	s tenancy.Settings) ([]task.Misfit, error) {
	permissions, err := c.Store.ToolPermissions(ctx, a.Head.TenantID)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	_, misfits := tool.PlannedBy(tools, a, steps, permissions, s.MCPServers).Edited(locale, a.StepsWith(id), steps)
	return misfits, nil
}

func (c *Pages) showForm(w http.ResponseWriter, r *http.Request, v *web.Viewer, a *task.Aggregate, hash string,
	typed map[string]string, misfits []task.Misfit) error {
	id, words := r.PathValue("gate"), v.Texts("task")
	person := c.Called(r.Context(), v, named(a, id)...)
	allowed, err := c.Store.ToolPermissions(r.Context(), a.Head.TenantID)
	if err != nil {
		return err
	}
	form, ok := card.EditFormOf(explain.SchemasOf(allowed), a, id, v.Locale, person,
		func(s string, _ int) string { return card.OneLine(s) })
	if !ok {
		return aggregate.ErrNotFound
	}
	back := c.page().Path + a.Head.TaskID
	d := editPage{EditForm: form, Path: back + "/edit/" + id, Back: back, Hash: hash}
	var members people.Members
	if form.People() != nil {
		members, _ = c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now()) // without them, an id is typed
	}
	wrong := map[string][]web.Fault{}
	for _, m := range misfits {
		at, text := form.Mistake(v.Locale, m)
		wrong[at] = append(wrong[at], web.Fault{Text: text})
	}
	for _, p := range form.Parts {
		part := editPart{Title: p.Title, Fixed: p.Fixed}
		for _, x := range p.Fields {
			was := x.Value
			if text, is := typed[x.ID]; is {
				x.Value = text
			}
			field := editField(x, wrong[x.ID])
			if x.Person {
				chooseMember(&field, members, web.Choice{Value: was, Text: person(was), Chosen: x.Value == was})
			}
			part.Fields = append(part.Fields, field)
		}
		d.Parts = append(d.Parts, part)
	}
	doc := web.Document{Title: form.Title, Here: "tasks"}
	if len(misfits) > 0 {
		d.Problem, doc.Status = words.Say("edit_wrong"), http.StatusUnprocessableEntity
	}
	doc.Data = d
	return c.Show(w, r, v, doc, "task/edit")
}

// named returns the people whom the form of a version names: who gave it back, and those among its values.
func named(a *task.Aggregate, id string) (users []string) {
	as := func(s string, _ int) string { return s }
	form, _ := card.EditFormOf(nil, a, id, language.English, func(user string) string {
		users = append(users, user)
		return user
	}, as)
	for _, x := range form.People() {
		users = append(users, x.Value)
	}
	return users
}

// chooseMember has a field choose among the workspace's members and whom it named before. Without them it keeps the id.
func chooseMember(field *web.Field, m people.Members, was web.Choice) {
	all := web.MembersToChoose(m, field.Value, was.Value, "")
	if len(all) == 0 || len(all) > web.MostToChoose {
		field.Hint, field.HintID = was.Value+": "+was.Text, field.Name+"_who"
		return
	}
	field.Choices = append([]web.Choice{was}, all...)
}

func editField(x card.EditField, wrong []web.Fault) web.Field {
	field := web.Field{Name: x.ID, Label: x.Name, Value: x.Value, Required: !x.Optional, Most: x.Most,
		Off: true, Problems: wrong}
	if x.Choices != nil && x.Optional {
		field.Choices = []web.Choice{unchosen}
	}
	for _, choice := range x.Choices {
		field.Choices = append(field.Choices, web.Choice{Value: choice.Value, Text: choice.Text,
			Chosen: choice.Value == x.Value})
	}
	if x.Choices == nil && x.Lines() {
		field.Rows = "6"
	}
	return field
}
