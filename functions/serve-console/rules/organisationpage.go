package rules

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
)

// Pages serves the organisation to administrators.
type OrganisationPages struct {
	*web.Site
	Organisations *store.OrganisationStore

	accounts clock.Answers[string, listing] // of workspaces
}

// Routes returns the pages of the organisation, its files, and the page on a person.
func (c *OrganisationPages) Routes() []web.Route {
	c.accounts.Most = workspaces
	upload := web.ForAdministrators("POST /console/organisation", c.upload)
	upload.Files = true
	return []web.Route{
		web.ForAdministrators("GET /console/organisation", c.show),
		upload,
		web.ForAdministrators("GET /console/organisation.csv", c.download),
		web.ForAdministrators("GET /console/organisation/template.csv", c.template),
		web.ForAdministrators("GET /console/organisation/people", c.people),
		web.ForAdministrators("GET /console/organisation/remove", c.askRemoval),
		web.ForAdministrators("POST /console/organisation/remove", c.remove),
	}
}

// standing reads what stands. Unread says that it can't be read, though it is there.
func (c *OrganisationPages) standing(ctx context.Context, v *web.Viewer) (is store.StandingOrganisation, unread bool,
	err error) {
	is, err = c.Organisations.Standing(ctx, v.Tenant)
	if errors.Is(err, store.ErrUnreadable) {
		slog.ErrorContext(ctx, "the organisation can't be read", "tenant", v.Tenant, "err", err)
		return is, true, nil
	}
	return is, false, err
}

// fact is a line of what stands, or of a file.
type fact struct{ Label, Text string }

// list is what people should look at, of which the page shows the first.
type peopleList struct {
	ID, Title, Note string
	Lines           []string
	More            int
}

// mostLines bounds each list of a page: a file may have ten thousand people.
const mostLines = 100

// listOf makes a list of the lines of all values, which are written only if they are shown.
func listOf[T any](id, title, note string, all []T, line func(T) string) peopleList {
	l := peopleList{ID: id, Title: title, Note: note, More: max(0, len(all)-mostLines)}
	for _, x := range all[:min(len(all), mostLines)] {
		l.Lines = append(l.Lines, line(x))
	}
	return l
}

// filled leaves out the lists that have no lines.
func filledLists(all ...peopleList) (out []peopleList) {
	for _, l := range all {
		if len(l.Lines) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// pageData is what stands.
type pageData struct {
	Stands, Unread bool
	Filter         web.Filter
	Facts          []fact
	Lists          []peopleList
}

func (c *OrganisationPages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, unread, err := c.standing(r.Context(), v)
	if err != nil {
		return err
	}
	t := texts{v.Texts("organisation")}
	data := pageData{Stands: is.Stands(), Unread: unread, Filter: t.resolve("", c.Today().String())}
	if is.Organisation != nil {
		chart := is.Organisation.Chart(c.Today())
		data.Facts = append(t.facts(chart), fact{t.Say("with_account"), t.people(is.Accounts.People())})
		if next, ok := is.Organisation.NextChange(c.Today()); ok {
			data.Facts = append(data.Facts, fact{t.Say("next_change"), next.String()})
		}
		data.Facts = append(data.Facts, fact{t.Say("saved_by"), c.Names(r.Context(), v, is.SavedBy)[is.SavedBy]},
			fact{t.Say("saved_at"), web.Minute(is.SavedAt)},
			fact{"SHA-256", is.SHA256})
		data.Lists = append(filledLists(listOf("without", t.Say("without"), t.Say("without_note"),
			is.Accounts.Without(chart), t.person)), t.gaps(is.Organisation, c.Today())...)
	}
	return c.Show(w, r, v, web.Document{Title: t.Say("title"), Here: "organisation", Data: data}, "organisation.html")
}

// removal is the question whether to remove what stands.
type removal struct {
	Rev   int
	Lists []peopleList
}

func (c *OrganisationPages) askRemoval(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	row, err := c.Organisations.OrganisationRow(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	if !row.Stands() {
		http.Redirect(w, r, "/console/organisation", http.StatusSeeOther)
		return nil
	}
	x, _, err := c.Store.Rules(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t := texts{v.Texts("organisation")}
	none := decide.Of(nil, listing{more: true})
	data := removal{row.Rev, t.emptied(t.Say("stages_removed"), x, none, c.Today().String())}
	d := web.Document{Title: t.Say("remove_title"), Here: "organisation", Data: data}
	return c.Show(w, r, v, d, "organisation-remove.html")
}

// remove removes what stood when the question was shown. It refuses what was saved since.
func (c *OrganisationPages) remove(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	rev := web.RevisionOf(r.PostForm)
	if err := c.Organisations.RemoveOrganisation(r.Context(), v.Tenant, rev, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/organisation", "organisation-removed")
}
