// Package settings has the pages on which administrators set what a workspace's agents may do: its settings with their
// file, its administrators, and the tools with their limits and marks.
package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/words/legible"
)

type Pages struct {
	*web.Site
	GitHub   GitHub
	Contests web.ContestFiles
	Channels Channels
	Servers  ServerTools
}

// Channels says where Ringi may post.
type Channels interface {
	Reaches(ctx context.Context, channel, user string) (bool, error)
}

// Routes returns the pages of settings, their file, the administrators, and the tools that tasks may call.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/settings", web.Of(c.Settings, c.overview)),
		web.ForAdministrators("GET /console/settings/history", web.Of(c.Settings, c.history)),
		web.ForAdministrators("GET /console/settings/{section}", web.Of(c.opened, c.showSection)),
		web.ForAdministrators("POST /console/settings/{section}", web.Of(c.opened, c.saveSection)),
		web.ForAdministrators("GET /console/settings.yaml", web.Of(c.Settings, c.exportSettings)),
		web.ForAdministrators("POST /console/settings/import", web.Of(c.Settings, c.importSettings)),
		web.ForAdministrators("GET /console/settings/admins", web.Of(c.owner, c.admins)),
		web.ForAdministrators("POST /console/settings/admins", web.Of(c.owner, c.saveAdmins)),
		web.ForAdministrators("GET /console/tools", c.tools),
		web.ForAdministrators("POST /console/tools/own/{name}", c.saveTool),
		web.ForAdministrators("GET /console/tools/marks/{name}", web.Of(c.markable, c.mark)),
		web.ForAdministrators("POST /console/tools/marks/{name}", web.Of(c.markable, c.saveMark)),
		web.ForAdministrators("GET /console/tools/servers/{server}", web.Of(c.namedServer, c.server)),
		web.ForAdministrators("POST /console/tools/servers/{server}", web.Of(c.namedServer, c.decideServerTool)),
	}
}

// settingsPage is a section of the settings.
type settingsPage struct {
	tenancy.Section
	now      tenancy.Settings
	form     url.Values
	problems aggregate.Problems
	conflict bool
	unasked  string // why nothing was asked, and so nothing saved
	used     string // which model was used last
	members  *people.Members
}

// opened returns the section that an address names, as it is saved.
func (c *Pages) opened(r *http.Request, v *web.Viewer) (p settingsPage, err error) {
	i := slices.IndexFunc(tenancy.Sections, func(s tenancy.Section) bool { return s.Key == r.PathValue("section") })
	if i < 0 {
		return p, web.ErrNoPage
	}
	p.Section = tenancy.Sections[i]
	p.now, err = c.Settings(r, v)
	p.form = formOf(p.now)
	return p, err
}

func sectionPath(key string) string { return "/console/settings/" + key }

// saveSection saves the typed values. It shows them again if they have problems, if somebody else saved changes
// meanwhile, or if the form was a search.
func (c *Pages) saveSection(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	p.form = sentForm(r.PostForm)
	act, rev := p.form.Get("act"), web.RevisionOf(p.form)
	switch {
	case rev != p.now.Rev:
		return c.showConflict(w, r, v, p)
	case searches(p.form):
		return c.showSection(w, r, v, p)
	}
	x, problems := typed(p.form, p.now)
	if act == "keep" { // who approves their own requests, as it is
		x, problems = p.now, nil
		x.SelfApprovalChosen = true
	}
	p.problems, x.Rev = problems, rev
	var err error
	if len(p.problems) == 0 {
		p.problems, err = c.unfitApprovers(r.Context(), v, p.now, x)
	}
	if err == nil && len(p.problems) == 0 {
		p.problems, err = c.listable(r.Context(), v, p.now, &x)
	}
	if err == nil && len(p.problems) == 0 {
		err = c.keep(r, v, p.now, x)
		if wrong, ok := errors.AsType[aggregate.Problem](err); ok {
			p.problems, err = aggregate.Problems{wrong}, nil
		}
	}
	switch p.unasked = (settingsTexts{v.Texts("settings")}).unasked(r.Context(), err); {
	case errors.Is(err, aggregate.ErrConflict):
		if p.now, err = c.Store.Settings(r.Context(), v.Tenant); err != nil {
			return err
		}
		return c.showConflict(w, r, v, p)
	case err != nil && p.unasked == "":
		return err
	case err != nil || len(p.problems) > 0:
		return c.showSection(w, r, v, p)
	}
	return c.Done(w, r, sectionPath(p.Key), "saved")
}

// unasked says what did not answer that is asked before settings are saved; "" if an error means something else.
func (t settingsTexts) unasked(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, explain.ErrUnverified):
		slog.WarnContext(ctx, "settings are not saved", "err", err)
		return t.Say("silent")
	case errors.Is(err, errNoGitHub):
		return t.Say("source_silent")
	case errors.Is(err, errNoFiles):
		return t.Say("files_silent")
	}
	return ""
}

// keep saves settings over those that stand.
func (c *Pages) keep(r *http.Request, v *web.Viewer, now, x tenancy.Settings) error {
	x.SelfApprovalChosen = x.SelfApprovalChosen || x.AllowSelfApproval != now.AllowSelfApproval
	_, err := c.Store.SaveSettings(r.Context(), v.Tenant, x, v.Actor(), c.Now())
	return err
}

// searches reports whether the form searches for somebody. Pressing Enter in the search field does that too.
func searches(form url.Values) bool {
	act := form.Get("act")
	return act == "search" || act == "enter" && form.Get("find.approvers.users")+
		form.Get("find.approvers.usergroups") != ""
}

// showConflict shows the typed values, each next to the one that somebody else saved if that differs.
func (c *Pages) showConflict(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	p.conflict, p.problems = true, nil
	return c.showSection(w, r, v, p)
}

// unfitApprovers returns the problems of approvers that are in x but not in was. Approvers who were listed before stay
// until somebody removes them; a click checks them again before it counts.
func (c *Pages) unfitApprovers(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) (aggregate.Problems,
	error) {
	added := func(ids, before []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(before, id) })
	}
	return c.unfit(ctx, v, x, added(x.Approvers.Users, was.Approvers.Users),
		added(x.Approvers.Usergroups, was.Approvers.Usergroups))
}

// unfit returns the problems of these approvers among those of settings.
func (c *Pages) unfit(ctx context.Context, v *web.Viewer, x tenancy.Settings, users, groups []string) (
	all aggregate.Problems, err error) {
	if len(users)+len(groups) == 0 {
		return nil, nil
	}
	refused, _, err := c.Refused(ctx, v, users, groups)
	if err != nil {
		return nil, err
	}
	for _, list := range []struct {
		field string
		ids   []string
	}{{"approvers.users", x.Approvers.Users}, {"approvers.usergroups", x.Approvers.Usergroups}} {
		for i, id := range list.ids {
			if rule := refused[id]; rule != "" {
				all = append(all, aggregate.Problem{Field: fmt.Sprintf("%s[%d]", list.field, i), Code: rule})
			}
		}
	}
	return all, nil
}

// showSection renders the page of a section. If Slack doesn't answer it shows ids instead of names.
func (c *Pages) showSection(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	p.members = c.members(r, v)
	t := settingsTexts{v.Texts("settings")}
	var note string
	var contest *contestNote
	switch p.Key {
	case "budget":
		sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
		if err != nil {
			return err
		}
		day, month := sums.Spent()
		if note = t.Say("spent", "day", day, "month", month); sums.HeldMonth > 0 {
			note += " · " + t.Say("held", "usd", sums.HeldMonth)
		}
	case "work":
		p.used = c.modelUsed(r.Context(), v)
	case "contest":
		if r.Method == http.MethodGet {
			contest = c.contestNote(r.Context(), v, p.now)
		}
	}
	data := t.sheetOf(p)
	data.Unchosen = data.Unchosen && !r.URL.Query().Has("done") // the page says first what was done
	data.Note, data.Contest = note, contest
	d := web.Document{Title: p.Title.In(v.Locale), Here: "settings", Data: data,
		Came: web.Came{Silent: p.unasked != "", Conflict: p.conflict, Wrong: len(p.problems) > 0}}
	return c.Show(w, r, v, d, "settings/section")
}

// members returns the workspace's people and groups, or nil if Slack doesn't list them.
func (c *Pages) members(r *http.Request, v *web.Viewer) *people.Members {
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		slog.WarnContext(r.Context(), "settings are shown without names", "err", err)
		return nil
	}
	return &m
}

// nameOf returns a member's name, or the id if the name is unknown.
func nameOf(m *people.Members, id string) string {
	if m != nil {
		if u, ok := m.Person(id); ok {
			return legible.OneLine(u.Name)
		}
		if g, ok := m.Group(id); ok {
			return legible.OneLine(g.Name)
		}
	}
	return id
}

// apart returns a person's or a group's name with the id: others may have the same name.
func apart(m *people.Members, id string) string {
	if name := nameOf(m, id); name != id {
		return name + " (" + id + ")"
	}
	return id
}

type adminsData struct {
	Rev int
	web.Chooser
	NoSlack bool
	Problem string
}

func (c *Pages) owner(r *http.Request, v *web.Viewer) (tenancy.Tenant, error) {
	return c.Store.Tenant(r.Context(), v.Tenant)
}

func (c *Pages) admins(w http.ResponseWriter, r *http.Request, v *web.Viewer, owner tenancy.Tenant) error {
	return c.showAdmins(w, r, v, owner, "")
}

func (c *Pages) showAdmins(w http.ResponseWriter, r *http.Request, v *web.Viewer, owner tenancy.Tenant,
	problem string) error {
	t := settingsTexts{v.Texts("settings")}
	m := c.members(r, v)
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	data := adminsData{owner.Rev, t.choosing(m, false).Choose("id", owner.Admins, query), m == nil, problem}
	d := web.Document{Title: t.Say("admins"), Here: "settings", Data: data, Came: web.Came{Wrong: problem != ""}}
	return c.Show(w, r, v, d, "settings/admins")
}

// saveAdmins adds or removes one administrator. It refuses to remove the last one, and to add anyone but a full member.
func (c *Pages) saveAdmins(w http.ResponseWriter, r *http.Request, v *web.Viewer, owner tenancy.Tenant) error {
	t, id := settingsTexts{v.Texts("settings")}, r.PostForm.Get("id")
	refuse := func(why string) error { return c.showAdmins(w, r, v, owner, why) }
	if web.RevisionOf(r.PostForm) != owner.Rev {
		return refuse(t.Say("admins_changed"))
	}
	rest := slices.DeleteFunc(slices.Clone(owner.Admins), func(x string) bool { return x == id })
	switch r.PostForm.Get("act") {
	case "remove":
		if len(rest) == 0 {
			return refuse(t.Say("admins_last"))
		}
	case "add":
		rest = append(rest, id)
		refused, m, err := c.Refused(r.Context(), v, []string{id}, nil)
		if err != nil {
			return err
		}
		if refused[id] != "" {
			return refuse(t.Say("admins_unfit", "name", nameOf(&m, id)))
		}
	default:
		return refuse(t.Say("admins_changed"))
	}
	changed := owner
	changed.Admins = rest
	if wrong, ok := errors.AsType[aggregate.Problem](changed.Validate()); ok {
		return refuse(t.problem(wrong))
	}
	if err := c.Store.SaveTenant(r.Context(), changed, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/settings/admins", "saved")
}
