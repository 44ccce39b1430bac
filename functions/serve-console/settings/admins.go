package settings

import (
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
)

// adminsData lists the administrators and the people found by a search.
type adminsData struct {
	Rev int
	web.Chooser
	NoSlack bool
	Problem string
}

func (c *Pages) admins(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	return c.showAdmins(w, r, v, "")
}

func (c *Pages) showAdmins(w http.ResponseWriter, r *http.Request, v *web.Viewer, problem string) error {
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t := settingsTexts{v.Texts("settings")}
	m := c.members(r, v)
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	data := adminsData{owner.Rev, t.choosing(m, false).Choose("id", owner.Admins, query), m == nil, problem}
	came := web.Came{Wrong: problem != ""}
	d := web.Document{Title: t.Say("admins"), Here: "settings", Data: data, Status: came.Status()}
	return c.Show(w, r, v, d, "settings-admins.html")
}

// saveAdmins adds or removes one administrator. It refuses to remove the last one, and to add anyone but a full member.
func (c *Pages) saveAdmins(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	owner, err := c.Store.Tenant(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t, id := settingsTexts{v.Texts("settings")}, r.PostForm.Get("id")
	if web.RevisionOf(r.PostForm) != owner.Rev {
		return c.showAdmins(w, r, v, t.Say("admins_changed"))
	}
	rest := slices.DeleteFunc(slices.Clone(owner.Admins), func(x string) bool { return x == id })
	switch r.PostForm.Get("act") {
	case "remove":
		if len(rest) == 0 {
			return c.showAdmins(w, r, v, t.Say("admins_last"))
		}
	case "add":
		rest = append(rest, id)
		m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
		if err != nil {
			return err
		}
		refused, err := m.Refused(r.Context(), c.Listing, []string{id}, nil)
		if err != nil {
			return err
		}
		if refused[id] != "" {
			return c.showAdmins(w, r, v, t.Say("admins_unfit", "name", nameOf(&m, id)))
		}
	default:
		return c.showAdmins(w, r, v, t.Say("admins_changed"))
	}
	owner.Admins = rest
	if wrong, ok := tenancy.ProblemOf(owner.Validate()); ok {
		return c.showAdmins(w, r, v, t.problem(wrong))
	}
	if err := c.Store.SaveTenant(r.Context(), owner, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/settings/admins", "saved")
}
