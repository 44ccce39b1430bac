package rules

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
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

// list lists the workspace's accounts: anew for a file that is shown, for saving only if the last list isn't known.
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
	return o.Match(web.Each(l.accounts, func(u slackapi.User) organisation.Account {
		return organisation.Account{ID: u.ID, Mails: []string{u.Mail}, Guest: u.Guest}
	}), day)
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

// stages lists the rules' stages that nobody can stamp at by the file, from which day on, and what it never has.
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

// uploadData is what was read of files, what is asked about them, and what they would change, or what is wrong.
type uploadData struct {
	Rev              int
	Read             reading
	SHA256, Accounts string // what was shown
	Problems         explain.Table
	More             int
	web.Came
	First, Same, Unread, Moved bool
	Incomplete, Mailless, Save bool
	Nobody                     bool // has a full member's account, so that nobody could approve
	Facts                      []fact
	Days                       []day
	Later                      bool // later days were not compared
	Lists                      []peopleList
}

// upload shows how files are read and what they change, and saves what was shown: organisation, accounts, revision.
func (c *OrganisationPages) upload(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	files, encodings, err := filesOf(r)
	if err != nil {
		return err
	}
	layout, err := c.Organisations.OrganisationLayout(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	kept, err := answered(layout.Kept, r.PostForm)
	if err != nil {
		return err
	}
	is, unread, err := standing(r.Context(), c.Organisations, v.Tenant)
	if err != nil {
		return err
	}
	t := texts{v.Texts("organisation")}
	data := uploadData{Rev: is.Rev, First: !is.Stands(), Unread: unread}
	laid, err := organisation.Lay(files, kept, c.Today())
	data.Read = t.reading(laid, kept, files, encodings)
	if wrong, ok := errors.AsType[organisation.Problems](err); ok {
		data.wrong(t, wrong, files)
		return c.showUpload(w, r, v, data)
	}
	if err != nil {
		return err
	}
	if laid.Asks() {
		return c.showUpload(w, r, v, data)
	}
	return c.preview(w, r, v, data, is, laid.Organisation, kept)
}

// wrong lists what is wrong with files.
func (d *uploadData) wrong(t texts, wrong organisation.Problems, files []organisation.File) {
	shown := wrong.Listed[:min(len(wrong.Listed), mostLines)]
	d.Problems.Long = true
	d.Problems.Columns = t.Columns("row", "column", "value", "problem")
	d.Problems.Rows = web.Each(shown, func(p organisation.Problem) []string { return t.problem(p, files) })
	d.More = wrong.More + len(wrong.Listed) - len(shown)
}

// preview shows what files change, and saves them if that was shown.
func (c *OrganisationPages) preview(w http.ResponseWriter, r *http.Request, v *web.Viewer, data uploadData,
	is store.StandingOrganisation, o *organisation.Organisation, kept organisation.Kept) error {
	t := texts{v.Texts("organisation")}
	saves := r.PostFormValue("act") == "save"
	l, err := c.list(r.Context(), v, !saves)
	if errors.Is(err, explain.ErrUnverified) {
		slog.WarnContext(r.Context(), "an organisation is not matched", "tenant", v.Tenant, "err", err)
		data.Silent = true
	} else if err != nil {
		return err
	}
	m := l.match(o, c.Today())
	data.SHA256, data.Accounts = o.SHA256(), m.Kept().SHA256()
	if saves && !data.Silent {
		done, err := c.saveShown(w, r, v, &data, o, m, kept)
		if done || err != nil {
			return err
		}
		if is, data.Unread, err = standing(r.Context(), c.Organisations, v.Tenant); err != nil { // somebody else's by now
			return err
		}
		data.Rev, data.First = is.Rev, !is.Stands()
	}
	data.tell(t, c.Today(), is, o)
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
	if data.Same && !data.Silent { // what was said of the files is kept, though there is nothing else to save
		err := c.Organisations.KeepOrganisationLayout(r.Context(), v.Tenant, kept, v.Actor(), c.Now())
		if err != nil {
			return err
		}
	}
	return c.showUpload(w, r, v, data)
}

// saveShown saves the file, revision and accounts that were shown; of others data says what has changed.
func (c *OrganisationPages) saveShown(w http.ResponseWriter, r *http.Request, v *web.Viewer, data *uploadData,
	o *organisation.Organisation, m *organisation.Matching, kept organisation.Kept) (done bool, err error) {
	rev, err := strconv.Atoi(r.PostFormValue("rev"))
	if err != nil || r.PostFormValue("sha256") != data.SHA256 {
		return false, nil // it was not shown yet
	}
	if r.PostFormValue("accounts") != data.Accounts {
		data.Moved = true
		return false, nil
	}
	if err := c.Organisations.KeepOrganisationLayout(r.Context(), v.Tenant, kept, v.Actor(), c.Now()); err != nil {
		return true, err
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
func (d *uploadData) tell(t texts, today organisation.Date, is store.StandingOrganisation,
	o *organisation.Organisation) {
	d.Facts = t.facts(o.Chart(today))
	all, more := organisation.Changes(is.Organisation, o, today)
	d.Days, d.Later = web.Each(all, func(x organisation.DayDifferences) day {
		return t.day(x, today, is.Organisation, o)
	}), more
	renamed := func(x organisation.NameChange) string {
		return t.Say("renamed", "number", x.Number, "was", x.Was, "is", x.Is, "day", x.On)
	}
	d.Lists = append(listOf("names", t.Say("names"), t.Say("names_note"), o.NameChanges(), renamed),
		append(t.away(o, today), t.gaps(o, today)...)...)
}

// tellAccounts says which accounts are whose, and whose are others than before.
func (d *uploadData) tellAccounts(t texts, today organisation.Date, before *organisation.Accounts, l listing,
	o *organisation.Organisation, m *organisation.Matching) {
	d.Incomplete, d.Mailless = l.more, len(l.accounts) > 0 &&
		!slices.ContainsFunc(l.accounts, func(u slackapi.User) bool { return u.Mail != "" })
	d.Nobody = true
	for _, all := range m.Accounts {
		d.Nobody = d.Nobody && !slices.ContainsFunc(all, func(a organisation.Matched) bool { return !a.Guest })
	}
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
		}), listOf("shared", t.Say("shared"), t.Say("shared_note"), m.Shared, func(x organisation.Shared) string {
			return t.joined(x.Mail, x.Accounts, named)
		}), listOf("several", t.Say("several"), t.Say("several_note"), m.Several, func(x organisation.Several) string {
			return t.joined(named(x.Account), x.Numbers, personOf)
		}), listOf("without", t.Say("without"), t.Say("without_note"), m.Without, personOf),
		listOf("nobody", t.Say("nobody"), t.Say("nobody_note"), m.Nobody, named))
}

func (c *OrganisationPages) showUpload(w http.ResponseWriter, r *http.Request, v *web.Viewer, data uploadData) error {
	title := v.Texts("organisation").Say("upload_title")
	d := web.Document{Title: title, Here: "organisation", Data: data, Came: data.Came}
	d.Conflict, d.Wrong = data.Conflict || data.Moved, len(data.Problems.Rows) > 0 || len(data.Read.Missing) > 0
	return c.Show(w, r, v, d, "organisation/upload")
}
