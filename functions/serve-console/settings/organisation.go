package settings

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const organisationPath = "/console/organisation"

// organisationData is what stands, and what is wrong with a file that was sent.
type organisationData struct {
	Rev     int
	Stands  bool
	Unread  bool   // it can't be read, though it stands: another takes its place
	Says    string // how many people there are, who saved them and when
	Posts   web.Table
	More    int // posts that aren't shown
	Columns []string
	Faults  []web.Fault
}

func (c *Pages) organisation(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	return c.showOrganisation(w, r, v, nil, false)
}

// showOrganisation shows what stands: with what is wrong with a file, or with the word that somebody else has saved
// another.
func (c *Pages) showOrganisation(w http.ResponseWriter, r *http.Request, v *web.Viewer, wrong aggregate.Problems,
	conflict bool) error {
	is, err := c.Store.Organisation(r.Context(), v.Tenant)
	d := organisationData{Rev: is.Rev, Stands: is.Stands(), Unread: errors.Is(err, store.ErrUnreadable)}
	if err != nil && !d.Unread {
		return err
	}
	t := v.Texts("organisation")
	if d.Unread {
		slog.ErrorContext(r.Context(), "the organisation can't be read", "tenant", v.Tenant, "err", err)
	}
	if o := is.Organisation; o != nil {
		d.Says = t.Say("stands", "n", web.Count(int64(o.People())), "by",
			c.Names(r.Context(), v, is.SavedBy)[is.SavedBy], "at", web.Minute(is.SavedAt))
		d.list(t, o)
	}
	for i, header := range rules.OrganisationHeader(v.Locale) {
		d.Columns = append(d.Columns, header+t.List("about_lists", "columns")[i])
	}
	d.Faults = web.Each(wrong, func(p aggregate.Problem) web.Fault { return faultOf(t, p) })
	return c.Show(w, r, v, web.Document{Here: "organisation", Data: d, Status: web.Answer(conflict, len(wrong) > 0)},
		"organisation")
}

// faultOf says what is wrong with a file, on which line and in which column.
func faultOf(t web.Texts, p aggregate.Problem) (f web.Fault) {
	line, column, _ := strings.Cut(p.Field, ".")
	if line != "" {
		f.Line = t.Say("line", "n", line)
	}
	for i, arg := range p.Args {
		if text, is := arg.(string); is {
			p.Args[i] = language.Spelled(text)
		}
	}
	f.Label, f.Text = rules.OrganisationColumn(column, t.Locale()), t.Problem(p, nil)
	return f
}

// mostPosts bounds the posts that the page shows: a file may have ten thousand.
const mostPosts = 200

// list shows the first posts.
func (d *organisationData) list(t web.Texts, o *rules.Organisation) {
	d.Posts = web.Table{Long: true}
	headers := rules.OrganisationHeader(t.Locale())
	for _, i := range []int{1, 0, 2, 3, 5} {
		d.Posts.Columns = append(d.Posts.Columns, web.Column{Name: headers[i]})
	}
	all := o.All()
	shown := all[:min(len(all), mostPosts)]
	d.More = len(all) - len(shown)
	for _, p := range shown {
		manager, position := p.Manager, p.Position
		if chain, _ := o.Above(p.Person); p.Main && len(chain) > 0 {
			manager = chain[0]
		}
		if p.Head {
			position = strings.TrimSpace(position + " " + t.Say("head"))
		}
		d.Posts.Rows = append(d.Posts.Rows, []string{o.Name(p.Person), p.Person, p.Department, position, o.Name(manager)})
	}
}

// uploadOrganisation saves a file, or says what is wrong with it.
func (c *Pages) uploadOrganisation(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	file, err := web.Uploaded(r)
	if err != nil {
		return err
	}
	// What is neither UTF-8 nor Shift_JIS is refused for that when it is read.
	if text, as := language.Decode(file); as != "" {
		file = []byte(text)
	}
	o, wrong := rules.ReadOrganisation(file)
	if len(wrong) > 0 {
		return c.showOrganisation(w, r, v, wrong, false)
	}
	err = c.Store.SaveOrganisation(r.Context(), v.Tenant, web.RevisionOf(r.PostForm), o, v.Actor(), c.Now())
	if errors.Is(err, aggregate.ErrConflict) {
		return c.showOrganisation(w, r, v, nil, true)
	}
	if large, is := errors.AsType[aggregate.Problem](err); is {
		return c.showOrganisation(w, r, v, aggregate.Problems{large}, false)
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, organisationPath, "saved")
}

func (c *Pages) removeOrganisation(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	rev := web.RevisionOf(r.PostForm)
	if err := c.Store.RemoveOrganisation(r.Context(), v.Tenant, rev, v.Actor(), c.Now()); err != nil {
		return err
	}
	return c.Done(w, r, organisationPath, "organisation-removed")
}

// downloadOrganisation sends what stands, or the beginning of a file: a head, and somebody below.
func (c *Pages) downloadOrganisation(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, err := c.Store.Organisation(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	t := v.Texts("organisation")
	rows := [][]string{rules.OrganisationHeader(v.Locale), t.List("example", "head"), t.List("example", "member")}
	if is.Organisation != nil {
		rows = is.Organisation.Rows(v.Locale)
	}
	return web.AttachCSV(w, r, "organisation.csv", rows)
}
