package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/people"
)

// Pages are the pages of the workspace's settings and of its administrators.
type Pages struct {
	*web.Site
}

// Routes are the page of settings, its file, what the first administrator is asked, and who the administrators are.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/settings", c.settings),
		web.ForAdministrators("POST /console/settings", c.saveSettings),
		web.ForAdministrators("GET /console/settings.yaml", c.exportSettings),
		web.ForAdministrators("POST /console/settings/import", c.importSettings),
		web.ForAdministrators("GET /console/welcome", c.welcome),
		web.ForAdministrators("POST /console/welcome", c.chooseSelfApproval),
		web.ForAdministrators("GET /console/settings/admins", c.admins),
		web.ForAdministrators("POST /console/settings/admins", c.saveAdmins),
	}
}

// mostFound is how many people, and how many groups, a search shows.
const mostFound = 20

// settingsPage is the state of the page: the values of its inputs, and their problems.
type settingsPage struct {
	now      tenancy.Settings
	form     url.Values
	problems []tenancy.Problem
	conflict bool
	silent   bool     // Slack did not say who the new approvers are
	both     []string // settings that somebody else changed too
	members  *people.Members
}

func (c *Pages) settings(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	now, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	return c.showSettings(w, r, v, settingsPage{now: now, form: formOf(now)})
}

// saveSettings saves the values that were typed, or shows them again: with their problems, with the changes that
// somebody else saved meanwhile, or with the people that a search found.
func (c *Pages) saveSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	now, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	p := settingsPage{now: now, form: r.PostForm}
	if searches(r.PostForm) {
		return c.showSettings(w, r, v, p)
	}
	x, problems := typed(r.PostForm, now)
	p.problems = problems
	x.Rev, _ = strconv.Atoi(r.PostForm.Get("rev")) // 0 is a revision that is over: a conflict
	if x.Rev != now.Rev {
		return c.showConflict(w, r, v, p)
	}
	if len(p.problems) == 0 {
		p.problems, err = c.unfitApprovers(r.Context(), v, now, x)
	}
	if err == nil && len(p.problems) == 0 {
		x.SelfApprovalChosen = x.SelfApprovalChosen || x.AllowSelfApproval != now.AllowSelfApproval
		_, err = c.Store.SaveSettings(r.Context(), v.Tenant, x, v.Actor(), c.Now())
		if wrong, ok := tenancy.ProblemOf(err); ok {
			p.problems, err = []tenancy.Problem{wrong}, nil
		}
	}
	switch {
	case errors.Is(err, errorclass.ErrUnverified):
		slog.WarnContext(r.Context(), "settings are not saved", "err", err)
		p.silent = true
		return c.showSettings(w, r, v, p)
	case errors.Is(err, aggregate.ErrConflict):
		if p.now, err = c.Store.Settings(r.Context(), v.Tenant); err != nil {
			return err
		}
		return c.showConflict(w, r, v, p)
	case err != nil:
		return err
	case len(p.problems) > 0:
		return c.showSettings(w, r, v, p)
	}
	return c.Done(w, r, "/console/settings", "saved")
}

// searches reports whether a form is sent to find somebody. Who presses Enter after typing a name wants that, too.
func searches(form url.Values) bool {
	act := form.Get("act")
	return act == "search" || act == "enter" && form.Get("find.approvers.users")+form.Get("find.approvers.usergroups") != ""
}

// showConflict shows the values that were typed beside those that somebody else saved since. A form without the values
// that it was opened with counts as one that changed everything.
func (c *Pages) showConflict(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	base, err := url.ParseQuery(p.form.Get("base"))
	if err != nil {
		base = url.Values{} // then all that differs was changed by both
	}
	p.form, p.both = merged(p.form, base, formOf(p.now))
	p.conflict, p.problems = true, nil
	return c.showSettings(w, r, v, p)
}

// unfitApprovers are the problems of those approvers that x has and was has not. Who is listed already stays until
// somebody takes them off the list: being listed is not enough to approve.
func (c *Pages) unfitApprovers(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) ([]tenancy.Problem, error) {
	added := func(ids, before []string) []string {
		return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(before, id) })
	}
	users, groups := added(x.Approvers.Users, was.Approvers.Users), added(x.Approvers.Usergroups, was.Approvers.Usergroups)
	if len(users)+len(groups) == 0 {
		return nil, nil
	}
	m, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now())
	if err != nil {
		return nil, err
	}
	refused, err := m.Refused(ctx, c.Listing, users, groups)
	if err != nil {
		return nil, err
	}
	return approverProblems(x, refused), nil
}

// approverProblems are the problems of settings that list refused approvers; refused has the rule for each id.
func approverProblems(x tenancy.Settings, refused map[string]tenancy.Rule) (all []tenancy.Problem) {
	for _, list := range []struct {
		field string
		ids   []string
	}{{"approvers.users", x.Approvers.Users}, {"approvers.usergroups", x.Approvers.Usergroups}} {
		for i, id := range list.ids {
			if rule := refused[id]; rule != "" {
				all = append(all, tenancy.Problem{Field: fmt.Sprintf("%s[%d]", list.field, i), Rule: rule})
			}
		}
	}
	return all
}

// showSettings writes the page. Without Slack it shows ids in the place of names.
func (c *Pages) showSettings(w http.ResponseWriter, r *http.Request, v *web.Viewer, p settingsPage) error {
	p.members = c.members(r, v)
	log, err := c.settingsLog(r.Context(), v, p.members)
	if err != nil {
		return err
	}
	t := settingsTexts{v.Texts("settings")}
	sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
	if err != nil {
		return err
	}
	if p.now.FurtherDay, err = c.Store.FurtherDay(r.Context(), v.Tenant); err != nil {
		return err
	}
	data := t.sheetOf(p)
	data.Log = log
	c.sayModel(r.Context(), v, &data)
	for i := range data.Sections {
		if data.Sections[i].Key == "budget" {
			data.Sections[i].Note = t.Say("spent", "day", sums.Day, "month", sums.Month)
		}
	}
	d := web.Document{Title: t.Say("title"), Here: "settings", Data: data}
	switch {
	case p.silent:
		d.Status = http.StatusServiceUnavailable
	case p.conflict:
		d.Status = http.StatusConflict
	case len(p.problems) > 0:
		d.Status = http.StatusUnprocessableEntity
	}
	return c.Show(w, r, v, d, "settings.html")
}

// members are the workspace's people and groups, nil while Slack does not list them.
func (c *Pages) members(r *http.Request, v *web.Viewer) *people.Members {
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		slog.WarnContext(r.Context(), "settings are shown without names", "err", err)
		return nil
	}
	return &m
}

// nameOf is a member's name, or the id when nobody says it.
func nameOf(m *people.Members, id string) string {
	if m != nil {
		if u, ok := m.Person(id); ok {
			return u.Name
		}
		if g, ok := m.Group(id); ok {
			return g.Name
		}
	}
	return id
}

// welcomeData is the question that the first administrator is asked.
type welcomeData struct {
	Allowed, Chosen bool
}

func (c *Pages) welcome(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	s, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t := v.Texts("welcome")
	data := welcomeData{s.AllowSelfApproval, s.SelfApprovalChosen}
	return c.Show(w, r, v, web.Document{Title: t.Say("title"), Here: "settings", Data: data}, "welcome.html")
}

func (c *Pages) chooseSelfApproval(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	s, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	choice := r.PostForm.Get("allow_self_approval")
	if choice != "true" && choice != "false" {
		return c.welcome(w, r, v)
	}
	// Whoever answers an open question doesn't undo what somebody else has decided meanwhile.
	if r.PostForm.Has("chosen") && r.PostForm.Get("chosen") != strconv.FormatBool(s.SelfApprovalChosen) && choice != strconv.FormatBool(s.AllowSelfApproval) {
		return aggregate.ErrConflict
	}
	s.AllowSelfApproval, s.SelfApprovalChosen = choice == "true", true
	if _, err := c.Store.SaveSettings(r.Context(), v.Tenant, s, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/settings", "saved")
}
