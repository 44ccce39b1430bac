// Package settings has the pages on which administrators set a workspace up: its settings with their file, its
// administrators, its rules, its organisation, its connections to vendors and to MCP servers, whose consents it asks
// for, and the tools that these and Ringi have, with their limits and marks; the page on which people name their
// stand-ins; and those by which Ringi is installed in Slack and people sign in.
package settings

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

type Pages struct {
	*web.Site
	GitHub   GitHub
	Servers  ServerTools
	Connect  Connections
	SignIn   *slackapi.SignIn
	Messages DirectMessages
}

// Routes returns the pages of settings, their file, the administrators, the connections, the tools that tasks may call,
// the rules, the organisation and the stand-ins.
func (c *Pages) Routes() []web.Route {
	upload := web.ForAdministrators("POST "+organisationPath, c.uploadOrganisation)
	upload.Files = true
	return append(append(c.connectionRoutes(), (&rulePages{Site: c.Site}).routes()...),
		web.ForAdministrators("GET "+organisationPath, c.organisation), upload,
		web.ForAdministrators("GET "+organisationPath+".csv", c.downloadOrganisation),
		web.ForAdministrators("POST "+organisationPath+"/remove", c.removeOrganisation),
		web.ForMembers("GET "+standInsPath, c.standIns), web.ForMembers("POST "+standInsPath, c.saveStandIn),
		web.ForAdministrators("GET "+settingsPath, web.Of(c.opened, c.show)),
		web.ForAdministrators("POST "+settingsPath, web.Of(c.opened, c.save)),
		web.ForAdministrators("GET /console/settings.yaml", web.Of(c.Settings, c.exportSettings)),
		web.ForAdministrators("POST /console/settings/import", web.Of(c.Settings, c.importSettings)),
		web.ForAdministrators("GET "+adminsPath, web.Of(c.owner, c.admins)),
		web.ForAdministrators("POST "+adminsPath, web.Of(c.owner, c.saveAdmins)),
		web.ForAdministrators("GET /console/tools", c.tools),
		web.ForAdministrators("POST /console/tools/own/{name}", c.saveTool),
		web.ForAdministrators("GET /console/tools/marks/{name}", web.Of(c.markable, c.mark)),
		web.ForAdministrators("POST /console/tools/marks/{name}", web.Of(c.markable, c.saveMark)),
		web.ForAdministrators("GET /console/tools/servers/{server}", web.Of(c.namedServer, c.server)),
		web.ForAdministrators("POST /console/tools/servers/{server}", web.Of(c.namedServer, c.decideServerTool)),
	)
}

const settingsPath, adminsPath = "/console/settings", "/console/settings/admins"

// settingsPage is the form of all settings.
type settingsPage struct {
	now      tenancy.Settings
	form     url.Values
	problems aggregate.Problems
	conflict bool
}

// opened returns the form as it is saved.
func (c *Pages) opened(r *http.Request, v *web.Viewer) (settingsPage, error) {
	now, err := c.Settings(r, v)
	return settingsPage{now: now, form: formOf(now)}, err
}

// save saves the typed values. It shows them again if they have problems, or if somebody else saved changes
// meanwhile. What must be asked and doesn't answer is an error: nothing is saved.
func (c *Pages) save(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	p.form = r.PostForm
	if p.conflict = web.RevisionOf(p.form) != p.now.Rev; p.conflict {
		return c.show(w, r, v, p)
	}
	x, unread := typed(p.form, p.now)
	err := error(nil)
	if len(unread) == 0 {
		p.problems, err = c.problems(r.Context(), v, p.now, &x)
	} else {
		p.problems = append(unread, slices.DeleteFunc(x.Problems(), func(wrong aggregate.Problem) bool {
			return slices.ContainsFunc(unread, func(x aggregate.Problem) bool { return strings.HasPrefix(x.Field, wrong.Field) })
		})...)
	}
	if err == nil && len(p.problems) == 0 {
		err = c.keep(r, v, x)
	}
	wrong, refused := errors.AsType[aggregate.Problem](err)
	switch {
	case refused:
		p.problems = aggregate.Problems{wrong}
	case errors.Is(err, aggregate.ErrConflict):
		if p.now, err = c.Settings(r, v); err != nil {
			return err
		}
		p.conflict = true
	case err != nil:
		return err
	case len(p.problems) == 0:
		return c.Done(w, r, settingsPath, "saved")
	}
	return c.show(w, r, v, p)
}

// problems returns what is wrong with settings over those that stand: first the rules of settings, then those that
// others must be asked about. Approvers who stand already stay until somebody removes them.
func (c *Pages) problems(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	aggregate.Problems, error) {
	all, err := x.Problems(), error(nil)
	if len(all) == 0 {
		all, err = c.unfit(ctx, v, was.Approvers, x.Approvers)
	}
	if err == nil && len(all) == 0 {
		all, err = c.listable(ctx, v, was, x)
	}
	return all, err
}

// keep saves settings over those that stand.
func (c *Pages) keep(r *http.Request, v *web.Viewer, x tenancy.Settings) error {
	_, err := c.Store.SaveSettings(r.Context(), v.Tenant, x, v.Actor(), c.Now())
	return err
}

// unfit returns the problems of approvers who are added.
func (c *Pages) unfit(ctx context.Context, v *web.Viewer, was, x tenancy.Approvers) (all aggregate.Problems,
	err error) {
	added := func(ids, before []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(before, id) })
	}
	users, groups := added(x.Users, was.Users), added(x.Usergroups, was.Usergroups)
	if len(users)+len(groups) == 0 {
		return nil, nil
	}
	refused, _, err := c.Refused(ctx, v, users, groups)
	for field, ids := range map[string][]string{"approvers.users": x.Users, "approvers.usergroups": x.Usergroups} {
		for i, id := range ids {
			if code := refused[id]; code != "" {
				all = append(all, aggregate.Problem{Field: fmt.Sprintf("%s[%d]", field, i), Code: code})
			}
		}
	}
	return all, err
}

func (c *Pages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	t := settingsTexts{v.Texts("settings")}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		return err
	}
	sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
	if err != nil {
		return err
	}
	d := t.page(p, &m)
	d.Spent = t.Say("spent", "day", sums.Day, "month", sums.Month)
	return c.Show(w, r, v, web.Document{Here: "settings", Data: d,
		Status: web.Answer(p.conflict, len(p.problems) > 0)}, "settings")
}

// nameOf returns a member's name, or the id if the name is unknown.
func nameOf(m *people.Members, id string) string {
	if u, ok := m.Person(id); ok {
		return language.OneLine(u.Name)
	}
	if g, ok := m.Group(id); ok {
		return language.OneLine(g.Name)
	}
	return id
}

// adminsData is the workspace with its administrators.
type adminsData struct {
	tenancy.Tenant
	Tabs    []web.View
	Chosen  []web.Box
	Offered []web.Choice
	Problem string
}

func (c *Pages) owner(r *http.Request, v *web.Viewer) (d adminsData, err error) {
	d.Tenant, err = c.Store.Tenant(r.Context(), v.Tenant)
	return d, err
}

func (c *Pages) admins(w http.ResponseWriter, r *http.Request, v *web.Viewer, d adminsData) error {
	t := settingsTexts{v.Texts("settings")}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		return err
	}
	d.Tabs, d.Offered = t.tabs(adminsPath), web.MembersToChoose(m, "", "", "")
	d.Chosen = t.chosen(&m, d.Offered, d.Admins)
	return c.Show(w, r, v, web.Document{Title: t.Say("admins"), Here: "settings", Data: d,
		Status: web.Answer(false, d.Problem != "")}, "settings/admins")
}

// saveAdmins adds or removes one administrator. It refuses to remove the last one, and to add anyone but a full member.
func (c *Pages) saveAdmins(w http.ResponseWriter, r *http.Request, v *web.Viewer, d adminsData) error {
	t, id := settingsTexts{v.Texts("settings")}, r.PostForm.Get("id")
	refuse := func(why string) error {
		d.Problem = why
		return c.admins(w, r, v, d)
	}
	changed := d.Tenant
	changed.Admins = slices.DeleteFunc(slices.Clone(d.Admins), func(x string) bool { return x == id })
	switch act := r.PostForm.Get("act"); {
	case web.RevisionOf(r.PostForm) != d.Rev:
		return refuse(t.Say("admins_changed"))
	case act == "remove":
		if len(changed.Admins) == 0 {
			return refuse(t.Say("admins_last"))
		}
	case act == "add":
		changed.Admins = append(changed.Admins, id)
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
	if wrong, ok := errors.AsType[aggregate.Problem](changed.Validate()); ok {
		return refuse(t.problem(wrong))
	}
	if err := c.Store.SaveTenant(r.Context(), changed, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, adminsPath, "saved")
}
