package rules

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// DirectMessages opens people's direct messages.
type DirectMessages interface {
	OpenDM(ctx context.Context, user string) (channel string, err error)
}

// StandInPages have the page on which people say who stamps for them while they are away.
type StandInPages struct {
	*web.Site
	Messages DirectMessages
}

const address = "/console/stand-ins"

// Routes returns the page, on which everybody sees and sets their own stand-ins, and administrators anybody's.
func (c *StandInPages) Routes() []web.Route {
	return []web.Route{web.ForMembers("GET "+address, c.page), web.ForMembers("POST "+address, c.save)}
}

type shown struct {
	Parts   []part // of the sentence that is the form
	Problem string
	People  []web.Choice
	Of      []web.Choice // whose stand-in may be set; empty: the viewer's alone
	Me      string
	From    string
	Until   string
	First   string // the first day that may be chosen, and the last
	Last    string
	Bad     string // field with a problem
	Rows    []row
}

// part is a text of the sentence, or the name of a field in it.
type part struct{ Text, Field string }

type row struct {
	Key, Hand, Principal, From, Until, SetBy string
	Now, Ends                                bool // it counts now; the viewer may end it
}

type typedStandIn struct{ hand, principal, from, until string }

func (c *StandInPages) page(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	today := c.Today().String()
	return c.show(w, r, v, typedStandIn{principal: v.User, from: today, until: today}, "", "")
}

// show shows the form as it was typed, with a problem of a field, and the delegations that the viewer may see.
func (c *StandInPages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer, t typedStandIn, field,
	problem string) error {
	words, now, today := v.Texts("stand-ins"), c.Now(), c.Today()
	out := shown{Parts: partsOf(words.Say("sentence")), From: t.from, Until: t.until, Bad: field, First: today.String(),
		Last: (today + tenancy.MaxDelegationAhead).String(), Problem: problem}
	all, err := c.seen(r.Context(), v)
	if err != nil {
		return err
	}
	ids := []string{v.User, t.principal}
	for _, d := range all {
		ids = append(ids, d.Hand, d.Principal, d.SetBy)
	}
	named := c.Called(r.Context(), v, ids...)
	out.Me = named(v.User)
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, now)
	if err != nil {
		return err
	}
	out.People = web.MembersToChoose(m, t.hand, v.User, words.Say("choose"))
	if v.Admin {
		out.Of = web.MembersToChoose(m, cmp.Or(t.principal, v.User), "", "")
	}
	for _, d := range all {
		if !d.Over(now) {
			out.Rows = append(out.Rows, row{Key: d.Key(), Hand: named(d.Hand), Principal: named(d.Principal),
				From: d.From.String(), Until: d.Until.String(), SetBy: named(d.SetBy), Now: d.Counts(now),
				Ends: v.Admin || d.Party(v.User)})
		}
	}
	d := web.Document{Here: "stand-ins", Data: out, Came: web.Came{Wrong: problem != ""}}
	return c.Show(w, r, v, d, "stand-ins")
}

// seen returns the delegations that the viewer may see, by their first days: administrators all, others their own.
func (c *StandInPages) seen(ctx context.Context, v *web.Viewer) (all []tenancy.Delegation, err error) {
	if v.Admin {
		all, err = c.Store.Delegations(ctx, v.Tenant)
	} else if all, err = c.Store.DelegationsTo(ctx, v.Tenant, v.User); err == nil {
		var of []tenancy.Delegation
		of, err = c.Store.DelegationsOf(ctx, v.Tenant, v.User)
		all = append(all, of...)
	}
	slices.SortStableFunc(all, func(a, b tenancy.Delegation) int {
		return cmp.Or(cmp.Compare(a.From, b.From), strings.Compare(a.Key(), b.Key()))
	})
	return all, err
}

var placeholder = language.Regexp{Text: `\{(\w+)\}`}

// partsOf splits a sentence at its fields.
func partsOf(sentence string) (out []part) {
	at := 0
	for _, m := range placeholder.Get().FindAllStringSubmatchIndex(sentence, -1) {
		out = append(out, part{Text: sentence[at:m[0]]}, part{Field: sentence[m[2]:m[3]]})
		at = m[1]
	}
	return append(out, part{Text: sentence[at:]})
}

// refusal returns the field and the sentence of what forbids a delegation; ok is false for other errors.
func refusal(words web.Texts, err error) (field, text string, ok bool) {
	wrong, _ := errors.AsType[aggregate.Problem](err)
	text = words.Problem(wrong, nil)
	return wrong.Field, text, text != wrong.Code
}

// slackWithin bounds the calls that open direct messages.
const slackWithin = 3 * time.Second
