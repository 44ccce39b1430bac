package rules

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// listing is what one listing of a workspace found.
type listing struct {
	accounts []slackapi.User
	more     bool
}

// listed is how long a listing counts for saving what was shown.
const listed = 10 * time.Minute

// workspaces bounds the listings that are kept: one of 20,000 accounts takes some 6 MB.
const workspaces = 8

// list lists the accounts of the workspace: anew for a file that is shown, and for saving only if the last listing is
// not known any more.
func (c *OrganisationPages) list(ctx context.Context, v *web.Viewer, anew bool) (listing, error) {
	if !anew {
		if is, ok := c.accounts.Known(v.Team, c.Now()); ok {
			return is, nil
		}
	}
	accounts, more, err := people.Accounts(ctx, c.Listing, v.Team)
	if err != nil {
		return listing{}, err
	}
	is := listing{accounts, more}
	c.accounts.Keep(v.Team, is, c.Now(), listed)
	return is, nil
}

// match finds the people of a file among the accounts.
func (l listing) match(o *organisation.Organisation, day organisation.Date) *organisation.Matching {
	all := make([]organisation.Account, len(l.accounts))
	for i, u := range l.accounts {
		all[i] = organisation.Account{ID: u.ID, Mails: []string{u.Mail}, Guest: u.Guest}
	}
	return o.Match(all, day)
}

// Full reports whether an account is a full member's, as far as the listing goes.
func (l listing) Full(user string) bool {
	i := slices.IndexFunc(l.accounts, func(u slackapi.User) bool { return u.ID == user })
	return i < 0 && l.more || i >= 0 && !l.accounts[i].Guest
}

// The listing doesn't say who is in user groups and channels.
func (listing) Members(string) []string                       { return nil }
func (listing) Handle(group string) string                    { return group }
func (listing) InChannel(string) (members []string, all bool) { return nil, false }

// stages lists what the file makes of the rules' stages: those that nobody can stamp at, from which day on, and what
// the file has on no day.
func (t texts) stages(x *rules.Rules, today organisation.Date, o *organisation.Organisation, m *organisation.Matching,
	l listing) []peopleList {
	days := []string{today.String()}
	for day, more := o.NextChange(today); more && len(days) < organisation.MaxChanges; day, more = o.NextChange(day) {
		days = append(days, day.String())
	}
	d := decide.NewDirectory(&decide.Organisation{Version: o.SHA256(), People: o, Accounts: m.Kept()}, l)
	return t.emptied(t.Say("stages"), x, d, days...)
}

// emptied lists what a directory makes of the rules' conditions and stages on some days, from today on, under a title.
func (t texts) emptied(title string, x *rules.Rules, d *decide.Directory, days ...string) []peopleList {
	if x == nil {
		return nil
	}
	say := speaker{Texts: web.TextsOf("rules", t.Locale())}
	line := func(f rules.Finding) string { return say.finding(x, f, days[0]) }
	return listOf("stages", title, t.Say("stages_note"), x.Emptied(d, days...), line)
}

func (l listing) names() map[string]string {
	all := make(map[string]string, len(l.accounts))
	for _, u := range l.accounts {
		all[u.ID] = u.Name
	}
	return all
}

// uploadData is what a file would change, or what is wrong with it.
type uploadData struct {
	Rev                      int
	Packed, SHA256, Accounts string // what was shown
	Problems                 explain.Table
	More                     int
	web.Came
	First, Same, Unread, Moved bool
	Incomplete, Mailless, Save bool
	Facts                      []fact
	Days                       []day
	Later                      bool // later days were not compared
	Lists                      []peopleList
}

// upload shows what a file would change, and saves it once that was shown: the same file, accounts and revision.
func (c *OrganisationPages) upload(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	text, encoding, err := textOf(r)
	if err != nil {
		return err
	}
	is, unread, err := standing(r.Context(), c.Organisations, v.Tenant)
	if err != nil {
		return err
	}
	t := texts{v.Texts("organisation")}
	data := uploadData{Rev: is.Rev, First: !is.Stands(), Unread: unread}
	o, err := organisation.Read(text)
	if wrong, ok := errors.AsType[organisation.Problems](err); ok {
		shown := wrong.Listed[:min(len(wrong.Listed), mostLines)]
		data.Problems.Columns = t.Columns("row", "column", "value", "problem")
		for _, p := range shown {
			data.Problems.Rows = append(data.Problems.Rows, t.problem(p))
		}
		data.More = wrong.More + len(wrong.Listed) - len(shown)
		return c.showUpload(w, r, v, data)
	}
	if err != nil {
		return err
	}
	saves := r.PostFormValue("act") == "save"
	l, err := c.list(r.Context(), v, !saves)
	if errors.Is(err, explain.ErrUnverified) {
		slog.WarnContext(r.Context(), "an organisation is not matched", "tenant", v.Tenant, "err", err)
		data.Silent = true
	} else if err != nil {
		return err
	}
	m := l.match(o, c.Today())
	data.Packed, data.SHA256, data.Accounts = web.Packed(text), o.SHA256(), m.Kept().SHA256()
	if saves && !data.Silent {
		done, err := c.saveShown(w, r, v, &data, o, m)
		if done || err != nil {
			return err
		}
		if is, data.Unread, err = standing(r.Context(), c.Organisations, v.Tenant); err != nil { // somebody else's by now
			return err
		}
		data.Rev, data.First = is.Rev, !is.Stands()
	}
	data.tell(t, c.Today(), is, o, encoding)
	if !data.Silent {
		data.tellAccounts(t, c.Today(), is.Accounts, l, o, m)
		x, _, err := c.Store.Rules(r.Context(), v.Tenant)
		if err != nil {
			return err
		}
		data.Lists = append(t.stages(x, c.Today(), o, m, l), data.Lists...)
	}
	data.Same = !data.Unread && is.Organisation != nil && is.SHA256 == data.SHA256 && is.AccountsSHA256 == data.Accounts
	data.Save = !data.Same && !data.Silent
	return c.showUpload(w, r, v, data)
}

// saveShown saves a file if it is the one that was shown, over the revision and with the accounts that were shown. Else
// data says what has changed.
func (c *OrganisationPages) saveShown(w http.ResponseWriter, r *http.Request, v *web.Viewer, data *uploadData,
	o *organisation.Organisation, m *organisation.Matching) (done bool, err error) {
	rev, err := strconv.Atoi(r.PostFormValue("rev"))
	if err != nil || r.PostFormValue("sha256") != data.SHA256 {
		return false, nil // it was not shown yet
	}
	if r.PostFormValue("accounts") != data.Accounts {
		data.Moved = true
		return false, nil
	}
	err = c.Organisations.Save(r.Context(), v.Tenant, rev, o, m.Kept(), v.Actor(), c.Now())
	if errors.Is(err, aggregate.ErrConflict) {
		data.Conflict = true
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, c.Done(w, r, "/console/organisation", "saved")
}

// tell says what the file has, and how that differs from what stands.
func (d *uploadData) tell(t texts, today organisation.Date, is store.StandingOrganisation, o *organisation.Organisation,
	encoding string) {
	d.Facts = t.facts(o.Chart(today))
	if encoding != "" {
		d.Facts = append(d.Facts, fact{t.Say("encoding"), encoding})
	}
	all, more := organisation.Changes(is.Organisation, o, today)
	for _, x := range all {
		d.Days = append(d.Days, t.day(x, today, is.Organisation, o))
	}
	d.Later = more
	renamed := func(x organisation.NameChange) string {
		return t.Say("renamed", "number", x.Number, "was", x.Was, "is", x.Is, "day", x.On)
	}
	d.Lists = append(listOf("names", t.Say("names"), t.Say("names_note"), o.NameChanges(), renamed), t.gaps(o, today)...)
}

// tellAccounts says which accounts are whose, and whose are others than before.
func (d *uploadData) tellAccounts(t texts, today organisation.Date, before *organisation.Accounts, l listing,
	o *organisation.Organisation, m *organisation.Matching) {
	d.Incomplete, d.Mailless = l.more, len(l.accounts) > 0 &&
		!slices.ContainsFunc(l.accounts, func(u slackapi.User) bool { return u.Mail != "" })
	d.Facts = append(d.Facts, fact{t.Say("with_account"), t.people(len(m.Accounts))},
		fact{t.Say("nobody"), t.Say("accounts", "n", web.Count(int64(len(m.Nobody))))})
	named := t.accountOf(l.names())
	personOf := func(number string) string { return t.numbered(o, today, number) }
	var others []organisation.AccountDifference
	if before != nil {
		others = m.Kept().Compare(before)
	}
	d.Lists = slices.Concat(d.Lists,
		listOf("others", t.Say("others"), t.Say("others_note"), others, func(x organisation.AccountDifference) string {
			return personOf(x.Number) + ": " + t.matched(x.Was, named) + " → " + t.matched(x.Is, named)
		}),
		listOf("shared", t.Say("shared"), t.Say("shared_note"), m.Shared, func(x organisation.Shared) string {
			return t.joined(x.Mail, x.Accounts, named)
		}),
		listOf("several", t.Say("several"), t.Say("several_note"), m.Several, func(x organisation.Several) string {
			return t.joined(named(x.Account), x.Numbers, personOf)
		}),
		listOf("without", t.Say("without"), t.Say("without_note"), m.Without, personOf),
		listOf("nobody", t.Say("nobody"), t.Say("nobody_note"), m.Nobody, named))
}

func (c *OrganisationPages) showUpload(w http.ResponseWriter, r *http.Request, v *web.Viewer, data uploadData) error {
	title := v.Texts("organisation").Say("upload_title")
	d := web.Document{Title: title, Here: "organisation", Data: data, Came: data.Came}
	d.Conflict, d.Wrong = data.Conflict || data.Moved, len(data.Problems.Rows) > 0
	return c.Show(w, r, v, d, "organisation/upload")
}

// day is what differs from a day on.
type day struct {
	Title, Sum string
	Rows       []changedRow
	More       int
}

// changedRow is a difference: of whom or what, in which respect.
type changedRow struct{ Of, What, Was, Is string }

// differing writes the rows of a day. It writes no more of each kind than are shown.
type differing struct {
	t       texts
	was, is *organisation.Chart
	day     day
}

// day says what differs from a day on.
func (t texts) day(x organisation.DayDifferences, today organisation.Date, was, is *organisation.Organisation) day {
	if was == nil {
		was = &organisation.Organisation{}
	}
	d := differing{t, was.Chart(x.From), is.Chart(x.From), day{Title: t.Say("changes_on", "day", x.From)}}
	if x.From == today {
		d.day.Title = t.Say("changes_now")
	}
	counted(&d, "new", x.PeopleAdded, d.added)
	counted(&d, "gone", x.PeopleGone, func(p organisation.Person) []changedRow {
		return []changedRow{{t.person(p), t.In("sums", "gone"), t.posts(d.was, p.Number), ""}}
	})
	counted(&d, "changed", x.PeopleChanged, func(p organisation.PersonDifference) []changedRow {
		return d.rows(called(p.Name, p.Number), p.Differences)
	})
	counted(&d, "departments_new", x.DepartmentsAdded, func(x organisation.Department) []changedRow {
		return []changedRow{{t.department(x), t.In("sums", "departments_new"), "", t.departmentOf(d.is, x.Parent)}}
	})
	counted(&d, "departments_gone", x.DepartmentsGone, func(x organisation.Department) []changedRow {
		return []changedRow{{t.department(x), t.In("sums", "departments_gone"), t.departmentOf(d.was, x.Parent), ""}}
	})
	counted(&d, "departments_changed", x.DepartmentsChanged, func(x organisation.DepartmentDifference) []changedRow {
		return d.rows(called(x.Name, x.Code), x.Differences)
	})
	counted(&d, "reranked", x.Reranked, func(x organisation.Reranked) []changedRow {
		return []changedRow{{x.Position, t.column(organisation.ColumnRank), web.Count(int64(x.Was)), web.Count(int64(x.Is))}}
	})
	return d.day
}

// counted adds the rows of one kind of difference and its number.
func counted[T any](d *differing, kind string, all []T, rows func(T) []changedRow) {
	if len(all) == 0 {
		return
	}
	if d.day.Sum != "" {
		d.day.Sum += " · "
	}
	d.day.Sum += d.t.In("sums", kind) + " " + web.Count(int64(len(all)))
	for _, x := range all[:min(len(all), mostLines)] {
		d.day.Rows = append(d.day.Rows, rows(x)...)
	}
	d.day.More += max(0, len(all)-mostLines)
}

// posts says where somebody works, the main post first.
func (t texts) posts(c *organisation.Chart, number string) string {
	return web.Joined(c.Posts(number), func(p organisation.Post) string {
		return strings.TrimSpace(t.departmentOf(c, p.Department) + " " + p.Position)
	}, t.Say("and"))
}

// added says where a new person works, the manager whom the file names, and the kind of one who is no employee.
func (d differing) added(p organisation.Person) []changedRow {
	rows := []changedRow{{d.t.person(p), d.t.In("sums", "new"), "", d.t.posts(d.is, p.Number)}}
	if p.Manager != "" {
		rows = append(rows, changedRow{d.t.person(p), d.t.column(organisation.ColumnManager), "", d.t.of(d.is, p.Manager)})
	}
	if p.Kind != organisation.Employee {
		rows = append(rows, changedRow{d.t.person(p), d.t.column(organisation.ColumnEmployment), "", d.t.kind(p.Kind)})
	}
	return rows
}

// rows says each difference of a person or a department. Codes and numbers have their names.
func (d differing) rows(of string, all []organisation.Difference) (out []changedRow) {
	for _, x := range all {
		was, is := d.values(d.was, x.Column, x.Was), d.values(d.is, x.Column, x.Is)
		out = append(out, changedRow{of, d.t.column(x.Column), was, is})
	}
	return out
}

func (d differing) values(c *organisation.Chart, column organisation.Column, values []string) string {
	values = slices.Clone(values)
	for i, v := range values {
		switch column {
		case organisation.ColumnDepartment, organisation.ColumnParent:
			values[i] = d.t.departmentOf(c, v)
		case organisation.ColumnManager:
			values[i] = d.t.of(c, v)
		case organisation.ColumnEmployment:
			values[i] = d.t.kind(organisation.Kind(v))
		case organisation.ColumnPosition:
			if v == "" {
				values[i] = d.t.Say("no_position")
			}
		}
	}
	return strings.Join(values, d.t.Say("and"))
}
