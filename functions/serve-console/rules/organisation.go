package rules

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/clock"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// OrganisationPages are about who works for the tenant: the file of people, departments and superiors, and who stands
// above whom.
type OrganisationPages struct {
	*web.Site
	Organisations *store.OrganisationStore

	accounts clock.Answers[string, listing] // by workspace
}

// Routes returns the pages of the organisation, and its files.
func (c *OrganisationPages) Routes() []web.Route {
	upload := web.ForAdministrators("POST /console/organisation", c.upload)
	upload.Files = true
	return []web.Route{
		web.ForAdministrators("GET /console/organisation", c.show), upload,
		web.ForAdministrators("GET /console/organisation.csv", c.download),
		web.ForAdministrators("GET /console/organisation/template.csv", c.template),
		web.ForAdministrators("GET /console/organisation/remove", c.askRemoval),
		web.ForAdministrators("POST /console/organisation/remove", c.remove),
	}
}

// standing reads what stands. Unread says that it can't be read, though it is there: another takes its place then.
func standing(ctx context.Context, all *store.OrganisationStore, tenant string) (is store.StandingOrganisation,
	unread bool, err error) {
	is, err = all.Current(ctx, tenant)
	if errors.Is(err, store.ErrUnreadable) {
		slog.ErrorContext(ctx, "the organisation can't be read", "tenant", tenant, "err", err)
		return is, true, nil
	}
	return is, false, err
}

type fact struct{ Label, Text string }

// peopleList is what people should look at, of which the page shows the first.
type peopleList struct {
	ID, Title, Note string
	Lines           []string
	More            int
}

// Count says how many they are.
func (l peopleList) Count() string { return web.Count(int64(len(l.Lines) + l.More)) }

// mostLines bounds each list of a page: a file may have ten thousand people.
const mostLines = 100

// listOf makes a list of the lines of all values, which are written only if they are shown; of no values, none.
func listOf[T any](id, title, note string, all []T, line func(T) string) []peopleList {
	if len(all) == 0 {
		return nil
	}
	l := peopleList{ID: id, Title: title, Note: note, More: max(0, len(all)-mostLines)}
	l.Lines = web.Each(all[:len(all)-l.More], line)
	return []peopleList{l}
}

// pageData is who was looked for, or everybody, what holds for one of them, and what stands as a whole.
type pageData struct {
	Stands, Unread bool
	Ignored        string // which parts of the address are left out
	Filter         web.Filter
	People         []found
	More           int
	Person         *personData
	Facts          []fact
	Lists          []peopleList
}

func (c *OrganisationPages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, unread, err := standing(r.Context(), c.Organisations, v.Tenant)
	if err != nil {
		return err
	}
	t := texts{v.Texts("organisation")}
	data := pageData{Stands: is.Stands(), Unread: unread}
	d := web.Document{Here: "organisation"}
	if o := is.Organisation; o != nil {
		c.people(r, v, t, is, &data)
		data.Facts = append(t.facts(o), fact{t.Say("with_account"), t.people(is.Accounts.People())},
			fact{t.Say("saved_by"), c.Names(r.Context(), v, is.SavedBy)[is.SavedBy]},
			fact{t.Say("saved_at"), web.Minute(is.SavedAt)}, fact{"SHA-256", is.SHA256})
		data.Lists = listOf("without", t.Say("without"), t.Say("without_note"), is.Accounts.Without(o), t.person)
	}
	d.Data = data
	return c.Show(w, r, v, d, "organisation")
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
	data := removal{row.Rev, nil}
	t := v.Texts("organisation")
	d := web.Document{Title: t.Say("remove"), Here: "organisation", Data: data}
	return c.Show(w, r, v, d, "organisation/remove")
}

// remove removes what stood when the question was shown. It refuses what was saved since.
func (c *OrganisationPages) remove(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	rev := web.RevisionOf(r.PostForm)
	if err := c.Organisations.RemoveOrganisation(r.Context(), v.Tenant, rev, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, "/console/organisation", "organisation-removed")
}

func (c *OrganisationPages) download(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, err := c.Organisations.Current(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	if is.Organisation == nil {
		return web.ErrNoPage
	}
	return web.Attach(w, web.KindCSV, "organisation.csv", web.CSVOf(is.Organisation.Rows(v.Locale), auditlog.Cell))
}

// template sends a file with two rows as an example: a manager, and somebody in a department below.
func (c *OrganisationPages) template(w http.ResponseWriter, _ *http.Request, v *web.Viewer) error {
	t := v.Texts("organisation")
	rows := [][]string{organisation.Header(v.Locale), t.List("example", "manager"), t.List("example", "member")}
	return web.Attach(w, web.KindCSV, "organisation-template.csv", web.CSVOf(rows, auditlog.Cell))
}

type texts struct{ web.Texts }

func (t texts) people(n int) string { return t.Say("people", "n", web.Count(int64(n))) }

func (t texts) kind(k organisation.Kind) string { return t.In("kinds", k) }

func (t texts) facts(o *organisation.Organisation) []fact {
	n := map[organisation.Kind]int{}
	for _, p := range o.People() {
		n[p.Kind]++
	}
	var kinds []string
	for _, k := range []organisation.Kind{organisation.Employee, organisation.Contractor, organisation.Temporary} {
		if n[k] > 0 {
			kinds = append(kinds, t.In("counted_kinds", k)+" "+web.Count(int64(n[k])))
		}
	}
	all := t.people(len(o.People()))
	if len(kinds) > 0 {
		all = called(all, strings.Join(kinds, t.Say("and")))
	}
	return []fact{{t.Say("works_here"), all}, {t.Say("departments"), web.Count(int64(len(o.Departments())))}}
}

func (t texts) person(p organisation.Person) string { return called(p.Name, p.Number) }

func called(name, id string) string {
	if name == "" {
		return id
	}
	return name + " (" + id + ")"
}

func (t texts) numbered(o *organisation.Organisation, number string) string {
	return called(o.Name(number), number)
}

func (t texts) department(d organisation.Department) string { return called(d.Name, d.Code) }

// posts says where somebody works.
func (t texts) posts(o *organisation.Organisation, number string) string {
	return web.Joined(o.Posts(number), func(p organisation.Post) string {
		return strings.TrimSpace(o.NameOf(p.Department) + " " + p.Position)
	}, t.Say("and"))
}

func (t texts) accountOf(names map[string]string) func(id string) string {
	return func(id string) string { return called(names[id], id) }
}

// matched names somebody's accounts.
func (t texts) matched(all []organisation.Matched, named func(id string) string) string {
	said := web.Joined(all, func(a organisation.Matched) string {
		if a.Guest {
			return named(a.ID) + " " + t.Say("guest")
		}
		return named(a.ID)
	}, t.Say("and"))
	return cmp.Or(said, t.Say("no_account"))
}

// column names a column as files do, in the viewer's language.
func (t texts) column(c organisation.Column) string {
	return c.Header(t.Locale())
}

// problem says what is wrong, where, and what another row has to do with it.
func (t texts) problem(p organisation.Problem) []string {
	row, column, text := t.Say("whole_file"), "", t.In("rules", p.Rule, "limit", web.Count(int64(p.Limit)))
	if p.Row > 0 {
		row = t.Say("line", "n", p.Row)
	}
	if p.Column != "" {
		column = t.column(p.Column)
	}
	if p.Other > 0 {
		text += " " + t.Say("see_row", "n", p.Other)
	}
	return []string{row, column, legible.Spelled(p.Value), text}
}
