package rules

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/words/charset"
)

// listing is what one listing of a workspace found.
type listing struct {
	accounts []slackapi.User
	more     bool
}

// listed is how long a listing counts for saving what was shown.
const listed = 10 * time.Minute

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
func (l listing) match(o *organisation.Organisation) *organisation.Matching {
	return o.Match(web.Each(l.accounts, func(u slackapi.User) organisation.Account {
		return organisation.Account{ID: u.ID, Mail: u.Mail, Guest: u.Guest}
	}))
}

func (l listing) names() map[string]string {
	all := make(map[string]string, len(l.accounts))
	for _, u := range l.accounts {
		all[u.ID] = u.Name
	}
	return all
}

// uploadData is what a file has, or what is wrong with it.
type uploadData struct {
	Rev              int
	Packed           string // the file
	SHA256, Accounts string // what was shown
	Problems         web.Table
	More             int
	web.Came
	First, Same          bool
	Moved                bool
	Incomplete, Mailless bool
	Save                 bool
	Nobody               bool // has a full member's account, so that nobody could approve
	Gone                 int  // people of the organisation that stands whom the file doesn't have
	Facts                []fact
	Lists                []peopleList
}

// fileOf returns the uploaded file as UTF-8, or the one that the page kept. What is neither UTF-8 nor Shift_JIS is
// returned as it is, and refused for that when it is read.
func fileOf(r *http.Request) ([]byte, error) {
	uploads, err := web.Uploads(r)
	if err != nil {
		return nil, err
	}
	if len(uploads) == 0 && r.PostFormValue("packed") == "" {
		return nil, nil
	}
	if len(uploads) == 0 {
		text, err := web.Unpacked(r.PostFormValue("packed"), organisation.MaxBytes)
		if err != nil {
			return nil, aggregate.Problem{Field: "file", Code: "can't be read"}
		}
		return text, nil
	}
	text, as := charset.Decode(uploads[0].File)
	if as == "" {
		return uploads[0].File, nil
	}
	return []byte(text), nil
}

// upload shows what a file has, and saves what was shown: organisation, accounts, revision.
func (c *OrganisationPages) upload(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	file, err := fileOf(r)
	if err != nil {
		return err
	}
	is, _, err := standing(r.Context(), c.Organisations, v.Tenant)
	if err != nil {
		return err
	}
	data := uploadData{Rev: is.Rev, Packed: web.Packed(file), First: !is.Stands()}
	o, err := organisation.Read(file)
	if wrong, ok := errors.AsType[organisation.Problems](err); ok {
		data.wrong(texts{v.Texts("organisation")}, wrong)
		return c.showUpload(w, r, v, data)
	}
	if err != nil {
		return err
	}
	return c.preview(w, r, v, data, is, o)
}

// wrong lists what is wrong with a file.
func (d *uploadData) wrong(t texts, wrong organisation.Problems) {
	shown := wrong.Listed[:min(len(wrong.Listed), mostLines)]
	d.Problems.Long = true
	d.Problems.Columns = t.Columns("row", "column", "value", "problem")
	d.Problems.Rows = web.Each(shown, t.problem)
	d.More = wrong.More + len(wrong.Listed) - len(shown)
}

// preview shows what a file has, and saves it if that was shown.
func (c *OrganisationPages) preview(w http.ResponseWriter, r *http.Request, v *web.Viewer, data uploadData,
	is store.StandingOrganisation, o *organisation.Organisation) error {
	t := texts{v.Texts("organisation")}
	saves := r.PostFormValue("act") == "save"
	l, err := c.list(r.Context(), v, !saves)
	if err != nil {
		return err
	}
	m := l.match(o)
	data.SHA256, data.Accounts = o.SHA256(), m.Kept().SHA256()
	if saves {
		done, err := c.saveShown(w, r, v, &data, o, m)
		if done || err != nil {
			return err
		}
		if is, _, err = standing(r.Context(), c.Organisations, v.Tenant); err != nil { // somebody else's by now
			return err
		}
		data.Rev, data.First = is.Rev, !is.Stands()
	}
	data.Facts = t.facts(o)
	for _, p := range peopleOf(is.Organisation) {
		if _, stays := o.Person(p.Number); !stays {
			data.Gone++
		}
	}
	data.tellAccounts(t, l, o, m)
	data.Same = is.Organisation != nil && is.SHA256 == data.SHA256 && is.AccountsSHA256 == data.Accounts
	data.Save = !data.Same
	return c.showUpload(w, r, v, data)
}

func peopleOf(o *organisation.Organisation) []organisation.Person {
	if o == nil {
		return nil
	}
	return o.People()
}

// saveShown saves the file, revision and accounts that were shown; of others data says what has changed.
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

// tellAccounts says which accounts are whose, and whose can't be told.
func (d *uploadData) tellAccounts(t texts, l listing, o *organisation.Organisation, m *organisation.Matching) {
	d.Incomplete, d.Mailless = l.more, len(l.accounts) > 0 &&
		!slices.ContainsFunc(l.accounts, func(u slackapi.User) bool { return u.Mail != "" })
	d.Nobody = true
	for _, all := range m.Accounts {
		d.Nobody = d.Nobody && !slices.ContainsFunc(all, func(a organisation.Matched) bool { return !a.Guest })
	}
	d.Facts = append(d.Facts, fact{t.Say("with_account"), t.people(len(m.Accounts))},
		fact{t.Say("nobody"), t.Say("accounts", "n", web.Count(int64(len(m.Nobody))))})
	named := t.accountOf(l.names())
	d.Lists = slices.Concat(d.Lists,
		listOf("shared", t.Say("shared"), t.Say("shared_note"), m.Shared, func(x organisation.Shared) string {
			return x.Mail + ": " + web.Joined(x.Accounts, named, t.Say("and"))
		}), listOf("without", t.Say("without"), t.Say("without_note"), m.Without,
			func(number string) string { return t.numbered(o, number) }),
		listOf("nobody", t.Say("nobody"), t.Say("nobody_note"), m.Nobody, named))
}

func (c *OrganisationPages) showUpload(w http.ResponseWriter, r *http.Request, v *web.Viewer, data uploadData) error {
	title := v.Texts("organisation").Say("upload_title")
	d := web.Document{Title: title, Here: "organisation", Data: data, Came: data.Came}
	d.Conflict, d.Wrong = data.Conflict || data.Moved, len(data.Problems.Rows) > 0
	return c.Show(w, r, v, d, "organisation/upload")
}
