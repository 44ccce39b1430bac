// Package rules has the page on which administrators write a workspace's rules of circulation: as sentences, in a form.
package rules

import (
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// Pages serves the rules of circulation.
type Pages struct {
	*web.Site
	Organisations *store.OrganisationStore

	grouped clock.Answers[string, []string] // members of user groups, by team and id
}

// Routes returns the list of rules, the form of one of them, and their file.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/rules", of(c.ask, (*asked).open)),
		web.ForAdministrators("POST /console/rules", of(c.begun, (*asked).act)),
		web.ForAdministrators("POST /console/rules/rule", of(c.begun, (*asked).edit)),
		web.ForAdministrators("GET /console/rules.yaml", of(c.ask, (*asked).export)),
		web.ForAdministrators("POST /console/rules/import", of(c.ask, (*asked).read)),
	}
}

// The outcomes of the last rule, as the page names them beside the numbers of the others.
const (
	reads  = "reads"
	writes = "writes"
)

// asked is one request of the page, with what all its answers need.
type asked struct {
	*Pages
	w http.ResponseWriter
	r *http.Request
	v *web.Viewer
	speaker
	members *people.Members      // nil: Slack doesn't list them
	org     *decide.Organisation // nil: none stands
	unread  bool                 // one stands, and can't be read
	draft   draft
}

// of makes a page of one that asks first.
func of(ask func(http.ResponseWriter, *http.Request, *web.Viewer) (*asked, error), serve func(*asked) error) web.Page {
	return func(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
		a, err := ask(w, r, v)
		if err != nil {
			return err
		}
		return serve(a)
	}
}

// ask reads what the page needs besides the rules. Without Slack it shows ids instead of names.
func (c *Pages) ask(w http.ResponseWriter, r *http.Request, v *web.Viewer) (*asked, error) {
	a := &asked{Pages: c, w: w, r: r, v: v, speaker: speaker{Texts: v.Texts("rules"), names: map[string]string{},
		counts: map[string]int{}, departments: map[string]string{}}}
	m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now())
	if err != nil {
		slog.WarnContext(r.Context(), "rules are shown without names", "err", err)
	} else {
		a.members = &m
		for _, u := range m.People {
			a.names[u.ID] = u.Name
		}
		for _, g := range m.Groups {
			a.names[g.ID], a.counts[g.ID] = g.Name, g.Count
		}
	}
	web.Distinct(a.names)
	reach, err := c.People.Sight(r.Context(), v.Team, v.User)
	if err != nil {
		slog.WarnContext(r.Context(), "rules are shown without the names of channels", "err", err)
	}
	a.channels = reach.Channels()
	if a.tools, err = c.knownTools(r.Context(), v); err != nil {
		return nil, err
	}
	return a, a.organised()
}

func (a *asked) open() (err error) {
	if a.draft, err = a.saved(); err != nil {
		return err
	}
	return a.list(listState{})
}

func (a *asked) saved() (draft, error) {
	x, rev, err := a.Store.Rules(a.r.Context(), a.v.Tenant)
	if x != nil {
		bare := *x
		bare.Rev, x = 0, &bare
	}
	return draft{Rev: rev, Rules: x}, err
}

// begun is ask for a form, which has the draft.
func (c *Pages) begun(w http.ResponseWriter, r *http.Request, v *web.Viewer) (*asked, error) {
	d, err := draftOf(r.PostForm.Get("draft"))
	if err != nil {
		return nil, err
	}
	a, err := c.ask(w, r, v)
	if err != nil {
		return nil, err
	}
	if a.draft = d; d.Rules != nil {
	}
	return a, nil
}

// act changes the draft by one of the list's buttons, or goes on with it.
func (a *asked) act() error {
	act, at, _ := strings.Cut(a.r.PostForm.Get("act"), ".")
	if act == "begin" && a.draft.Rules == nil {
		return a.begin(at)
	}
	switch act {
	case "save":
		return a.save()
	case "end":
		a.draft.Rules = nil
		return a.review(false)
	}
	if a.draft.Rules == nil {
		return a.list(listState{})
	}
	switch act {
	case "up", "down", "delete":
		if i, err := strconv.Atoi(at); err == nil {
			a.draft.Rules.Rules = arranged(a.draft.Rules.Rules, act, i)
		}
	case "add":
		return a.form(a.newRule(), nil, nil)
	case "edit":
		if e, ok := a.edited(at); ok {
			return a.form(e, nil, nil)
		}
	case "check":
		return a.review(false)
	case "try":
		return a.list(listState{try: true})
	}
	return a.list(listState{})
}

// begin makes the first draft: with a rule for writes outside, which the form then asks for people, or without any.
func (a *asked) begin(how string) error {
	a.draft.Rules = blank()
	if how != "writes" {
		return a.list(listState{})
	}
	settings, err := a.Store.Settings(a.r.Context(), a.v.Tenant)
	if err != nil {
		return err
	}
	e := a.newRule()
	e.Rule.Name, e.Rule.When.Tools = a.In("groups", rules.UseWriting), &rules.Tools{Use: rules.UseWriting}
	if settings.Approvers.Mode == aggregate.ApproversList {
		people := settings.Approvers.Users
		e.Rule.Route.Stages[0].Who.People = people[:min(len(people), rules.MaxPeople)]
	}
	return a.form(e, nil, nil)
}

// newRule returns the rule that the form of a new one begins with: for whatever asks, with one stage.
func (a *asked) newRule() edited {
	return edited{At: "new", Rule: rules.Rule{ID: aggregate.NewID(),
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{a.newStage(0)}}}}}
}

func (a *asked) newStage(i int) rules.Stage {
	return rules.Stage{Name: a.Say("stage_name", "n", i+1), Who: rules.Who{Kind: rules.WhoPeople}, Need: 1}
}

// listState is what an answer with the list shows besides the draft.
type listState struct {
	try      bool
	conflict *conflict
	problems []problem
	status   int
}

// conflict says who saved other rules since the draft was begun.
type conflict struct {
	Who     string
	At      time.Time
	Rev     int
	Changes []change
}

type listData struct {
	Draft    string
	None     bool // there are no rules, and no draft of any
	Unsaved  bool
	Stand    bool // some are saved
	NoSlack  bool
	Unread   bool // an organisation stands, and can't be read
	Conflict *conflict
	Problems []problem
	Rows     []ruleRow
	Try      tryData
	History  []tenancy.RulesKept
}

// ruleRow is a rule at a glance, and in full.
type ruleRow struct {
	N           int    // 0: it is of the last rule
	At          string // in the draft
	Group       string // what the rule is for, if the one above is for something else
	Band        string
	More        []string // that must hold besides
	Chips       []chip
	Says        string
	Wrong       []problem
	First, Last bool
}

func (a *asked) list(state listState) error {
	saved, err := a.saved()
	if err != nil {
		return err
	}
	x := a.draft.Rules
	d := listData{Draft: packed(a.draft), None: x == nil, Stand: saved.Rules != nil, NoSlack: a.members == nil,
		Unsaved: !same(saved.Rules, x), Unread: a.unread, Conflict: state.conflict, Problems: state.problems}
	if x != nil {
		a.rows(&d, x)
		if d.Try, err = a.trying(state.try); err != nil {
			return err
		}
	}
	if d.History, err = a.Store.RulesHistory(a.r.Context(), a.v.Tenant, mostKept); err != nil {
		return err
	}
	for i := range d.History {
		d.History[i].UpdatedBy = a.person(d.History[i].UpdatedBy)
	}
	return a.show("rules", "", d, state.status)
}

func (a *asked) show(page, title string, data any, status int) error {
	return a.Show(a.w, a.r, a.v, web.Document{Title: title, Here: "rules", Data: data, Status: status}, page)
}

// Said names what is wrong: a rule's row says what. What has no place there is said.
func (d listData) Said() []problem {
	return linked(d.Problems, func(p problem) (id, name string) {
		i, err := strconv.Atoi(p.Rule)
		switch {
		case err == nil:
			return "r-" + strconv.Itoa(i+1), p.Of
		case p.Rule != "":
			return "r-" + p.Rule, p.Of
		}
		return "", ""
	})
}

// rows fills in the rules and the last one.
func (a *asked) rows(d *listData, x *rules.Rules) {
	wrong := func(rule string) (all []problem) {
		for _, p := range d.Problems {
			if p.Label = a.label(p.Field); p.Rule == rule {
				all = append(all, p)
			}
		}
		return together(all)
	}
	above := ""
	for i := range x.Rules {
		r := &x.Rules[i]
		row := ruleRow{N: i + 1, At: strconv.Itoa(i), Says: a.rule(r), Chips: a.chips(&r.Outcome),
			Wrong: wrong(strconv.Itoa(i)), First: i == 0, Last: i == len(x.Rules)-1}
		group := ""
		if group, row.Band, row.More = a.asking(r); group != above {
			row.Group, above = group, group
		}
		if r.Name != row.Band {
			row.More = append([]string{a.Say("quoted", "text", r.Name)}, row.More...)
		}
		d.Rows = append(d.Rows, row)
	}
	last := func(at, group string) ruleRow {
		o := lastOf(x, at)
		is := *o
		if is.Route == nil && is.Refuse == "" && at == reads {
			is.Route = &rules.Policy{Stages: []rules.Stage{{Who: rules.Who{Kind: rules.WhoChannel}, Need: 1}}}
		}
		return ruleRow{At: at, Group: group, Band: a.In("last", at), More: []string{a.In("last_about", at)},
			Says: a.lastOutcome(at, o), Wrong: wrong(at), Chips: a.chips(&is)}
	}
	d.Rows = append(d.Rows, last(reads, a.Say("last_group")), last(writes, ""))
}

// lastOutcome says what becomes of requests that no rule takes.
func (s speaker) lastOutcome(at string, o *rules.Outcome) string {
	if o.Route == nil && o.Refuse == "" {
		return legible.Capital(s.In("defaults", at))
	}
	return legible.Capital(s.outcome(o))
}

// conflicting shows the draft beside what somebody else saved since it was begun. The draft goes on from there: the
// next look at it says what it would change of theirs.
func (a *asked) conflicting(now draft) error {
	var kept [2]tenancy.RulesKept
	for i, rev := range []int{a.draft.Rev, now.Rev} {
		var err error
		kept[i], err = a.Store.RulesOf(a.r.Context(), a.v.Tenant, rev)
		if err != nil && !errors.Is(err, aggregate.ErrNotFound) { // the first revision has none before it
			return err
		}
	}
	a.draft.Rev = now.Rev
	return a.list(listState{conflict: &conflict{Who: a.person(kept[1].UpdatedBy), At: kept[1].UpdatedAt, Rev: now.Rev,
		Changes: a.changes(kept[0].Rules, now.Rules)}, status: http.StatusConflict})
}
