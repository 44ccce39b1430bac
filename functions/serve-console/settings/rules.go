package settings

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// rulePages serves the rules.
type rulePages struct {
	*web.Site

	known people.Requesters
}

const rulesPath = "/console/rules"

// routes returns the list of rules and the form of one of them.
func (c *rulePages) routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET "+rulesPath, c.asksFirst((*asked).open)),
		web.ForAdministrators("POST "+rulesPath, c.asksFirst((*asked).act)),
		web.ForAdministrators("POST "+rulesPath+"/rule", c.asksFirst((*asked).edit)),
	}
}

// asked is one request of the page, with what all its answers need.
type asked struct {
	*rulePages
	w http.ResponseWriter
	r *http.Request
	v *web.Viewer
	speaker
	members people.Members
	org     *rules.Organisation // nil: none stands
	draft   draft
}

// asksFirst makes a page of one that asks first; a form has the draft. Of an organisation that can't be read its own
// page says what to do.
func (c *rulePages) asksFirst(serve func(*asked) error) web.Page {
	return func(w http.ResponseWriter, r *http.Request, v *web.Viewer) (err error) {
		a := &asked{rulePages: c, w: w, r: r, v: v, speaker: speaker{Texts: v.Texts("rules"), names: map[string]string{}}}
		if r.Method == http.MethodPost {
			if a.draft, err = draftOf(r.PostForm.Get("draft")); err != nil {
				return err
			}
		}
		switch err = a.ask(); {
		case errors.Is(err, store.ErrUnreadable):
			http.Redirect(w, r, organisationPath, http.StatusSeeOther)
			return nil
		case err != nil:
			return err
		}
		return serve(a)
	}
}

// ask reads what the page needs besides the rules.
func (a *asked) ask() (err error) {
	ctx, v := a.r.Context(), a.v
	if a.members, err = a.Roster.Of(ctx, a.Listing, v.Team, a.Now()); err != nil {
		return err
	}
	for _, u := range a.members.People {
		a.names[u.ID] = u.Name
	}
	for _, g := range a.members.Groups {
		a.names[g.ID] = g.Name
	}
	web.Distinct(a.names)
	reach, err := a.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		return err
	}
	a.channels = reach.Channels()
	if a.tools, err = a.KnownTools(ctx, v); err != nil {
		return err
	}
	is, err := a.Store.Organisation(ctx, v.Tenant)
	a.org = is.Organisation
	return err
}

func (a *asked) open() error { return a.list(listState{opened: true}) }

// act changes the draft by one of the list's buttons, or goes on with it.
func (a *asked) act() error {
	act, place, _ := strings.Cut(a.r.PostForm.Get("act"), ".")
	at, err := strconv.Atoi(place)
	here := err == nil && at >= 0 && at < len(a.draft.Rules)
	switch act {
	case "save":
		return a.save()
	case "add": // for all that writes, with one stage, of which nobody is chosen yet
		return a.form(edited{len(a.draft.Rules), rules.Rule{ID: aggregate.NewID(),
			Conditions: rules.Conditions{Currency: yen},
			Outcome:    rules.Outcome{Stages: []rules.Stage{a.newStage(0)}}}}, nil)
	case "edit":
		if here {
			return a.form(edited{at, a.draft.Rules[at]}, nil)
		}
	case "up", "down", "delete":
		a.draft.Rules = arranged(a.draft.Rules, act, at)
	case "try":
		return a.list(listState{try: true})
	}
	return a.list(listState{})
}

func (a *asked) newStage(i int) rules.Stage {
	return rules.Stage{Name: explain.NewStage(a.Locale(), i+1), Need: 1}
}

func (a *asked) rules() *rules.Rules { return &rules.Rules{Rules: a.draft.Rules} }

// save saves the draft. What is wrong with it, and that somebody saved others meanwhile, the list says.
func (a *asked) save() error {
	_, _, err := a.Store.SaveRules(a.r.Context(), a.v.Tenant, a.rules(), a.draft.Rev, web.KnownToRules(a.tools),
		a.v.Actor(), a.Now())
	switch {
	case errors.Is(err, aggregate.ErrConflict):
		return a.list(listState{status: http.StatusConflict})
	case errors.As(err, new(aggregate.Problem)):
		wrong := a.problems(a.draft.Rules, a.rules().Problems(web.KnownToRules(a.tools)))
		return a.list(listState{problems: wrong, status: http.StatusUnprocessableEntity})
	case err != nil:
		return err
	}
	return a.Done(a.w, a.r, rulesPath, "saved")
}

// listState is what an answer with the list shows besides the draft.
type listState struct {
	opened   bool // the draft is what is saved
	try      bool
	problems []web.Fault
	status   int
}

type listData struct {
	Saved   tenancy.RulesRow
	SavedBy string
	Draft   string
	Unsaved bool
	By      string // who saved others meanwhile
	Problem []web.Fault
	Notes   []string // what should be known about the rules
	Rows    []ruleRow
	Try     tryData
}

// ruleRow is a rule at a glance.
type ruleRow struct {
	N     int    // from 1
	Group string // what the rule is for, if the one above is for something else
	Band  string
	More  []string // that must hold besides
	Chips []chip
	Since string // what became of it since the rules were saved; empty: nothing
}

func (a *asked) list(state listState) error {
	row, err := a.Store.RulesRow(a.r.Context(), a.v.Tenant)
	if err != nil {
		return err
	}
	saved := draft{Rev: row.Rev}
	if row.Rules != nil {
		saved.Rules = row.Rules.Rules
	}
	d := listData{Saved: row, SavedBy: a.person(row.UpdatedBy), Problem: state.problems}
	if state.opened {
		a.draft = saved
	}
	if state.status == http.StatusConflict {
		a.draft.Rev, d.By = saved.Rev, d.SavedBy
	}
	d.Draft = a.draft.packed()
	d.Unsaved = len(saved.Rules)+len(a.draft.Rules) > 0 && !web.Alike(saved.Rules, a.draft.Rules)
	a.rows(&d)
	if d.Notes, err = a.notes(); err == nil && len(a.draft.Rules) > 0 {
		d.Try, err = a.trying(state.try)
	}
	if err != nil {
		return err
	}
	return a.show("rules", web.Document{Form: map[bool]string{true: rulesPath}[d.Unsaved], Data: d, Status: state.status})
}

func (a *asked) show(page string, d web.Document) error {
	d.Here = "rules"
	return a.Show(a.w, a.r, a.v, d, page)
}

func (a *asked) rows(d *listData) {
	above, saved := "", []rules.Rule(nil)
	if d.Saved.Rules != nil {
		saved = d.Saved.Rules.Rules
	}
	for i := range a.draft.Rules {
		r := &a.draft.Rules[i]
		row := ruleRow{N: i + 1, Chips: a.chips(&r.Outcome)}
		group := ""
		if group, row.Band, row.More = a.asking(r); group != above {
			row.Group, above = group, group
		}
		if name := a.givenName(r); name != "" && name != row.Band {
			row.More = append([]string{a.Say("quoted", "text", name)}, row.More...)
		}
		at := slices.IndexFunc(saved, func(x rules.Rule) bool { return x.ID == r.ID })
		if at < 0 && saved != nil {
			row.Since = "added"
		} else if at >= 0 && !web.Alike(saved[at], *r) {
			row.Since = "changed"
		}
		d.Rows = append(d.Rows, row)
	}
}

// notes says what should be known about the draft.
func (a *asked) notes() ([]string, error) {
	var found []rules.Finding
	err := a.looked(func(d *decide.Directory) error {
		found = a.rules().Findings(d)
		return nil
	})
	if errors.Is(err, explain.ErrUnverified) {
		slog.WarnContext(a.r.Context(), "people of rules are not checked", "err", err)
		return []string{a.Say("silent")}, nil
	}
	return web.Each(found, a.finding), err
}

// finding says what should be known about a rule.
func (a *asked) finding(f rules.Finding) string {
	kind := string(f.Kind)
	if f.Kind == rules.FindingUnknown && f.Stage == 0 {
		kind += "_condition"
	}
	return a.In("findings", kind, "rule", a.ruleNamed(f.Rule), "stage", number(f.Stage-1),
		"who", language.OneLine(f.Who))
}

// mostAsked bounds what Slack is asked one by one: people who are not listed where a workspace has more than a list,
// and who is in user groups. users.info may be called about 100 times a minute (Tier 4), usergroups.users.list 20
// times (Tier 2).
const mostAsked = 50

// looked calls do until its directory knows all that do asks of it, and returns the last call's error. It returns
// explain.ErrUnverified when Slack can't say.
func (a *asked) looked(do func(d *decide.Directory) error) error {
	in := decide.Places{Slack: a.Slack, Known: &a.known, Listed: &a.members, Team: a.v.Team, Organisation: a.org,
		Now: a.Now(), Most: mostAsked}
	return in.Resolve(a.r.Context(), do)
}

// mostOptions bounds what a select offers of posts and departments: of more somebody looks for one.
const mostOptions = 300

// options are whom stages may ask, and who may be a condition; of too many those that somebody looks for.
func (a *asked) options(find string) (who, by []web.Choice) {
	sought := language.Folded(find)
	offered := func(values []string, most int) (all []web.Choice) {
		for _, value := range values {
			c := web.Choice{Value: value, Text: a.source(value)}
			if len(values) <= most || find != "" && strings.Contains(language.Folded(c.Text), sought) {
				all = append(all, c)
			}
		}
		return all
	}
	var posts, departments, users []string
	if a.org != nil {
		who = offered([]string{"superior:1", "superior:2"}, mostOptions)
		posts, departments = a.posts()
	}
	for _, u := range a.members.People {
		if a.members.Rule(u) == "" {
			users = append(users, "user:"+u.ID)
		}
	}
	groups, persons := a.groupOptions(), offered(users, web.MostToChoose)
	who = slices.Concat(who, offered(posts, mostOptions), groups,
		[]web.Choice{{Value: "channel:", Text: a.Say("of_channel")}}, persons)
	return who, slices.Concat(offered(prefixed("department:", departments), mostOptions), groups, persons)
}

// posts are the posts of the organisation that may be asked, and its departments.
func (a *asked) posts() (posts, departments []string) {
	departments = a.org.AllDepartments()
	for _, d := range departments {
		posts = append(posts, "post:"+d+between)
	}
	for _, p := range a.org.All() {
		if p.Position != "" {
			posts = append(posts, "post:"+between+p.Position, "post:"+p.Department+between+p.Position)
		}
	}
	slices.Sort(posts)
	return slices.Compact(posts), departments
}

// groupOptions are the workspace's user groups.
func (a *asked) groupOptions() (all []web.Choice) {
	for _, g := range a.members.Groups {
		if !g.Disabled {
			all = append(all, web.Choice{Value: "group:" + g.ID, Text: a.source("group:" + g.ID)})
		}
	}
	return all
}

// channelOptions are direct messages and the viewer's channels.
func (a *asked) channelOptions() []web.Choice {
	var all []web.Choice
	for id := range a.channels {
		all = append(all, web.Choice{Value: id, Text: a.channel(id)})
	}
	slices.SortFunc(all, web.Choice.Compare)
	return append([]web.Choice{{Value: rules.Direct, Text: a.channel(rules.Direct)}}, all...)
}

// toolOptions are the tools that requests may call.
func (a *asked) toolOptions() (all []web.Choice) {
	for _, t := range a.tools {
		if t.Allowed {
			note := a.Say("tool_reads")
			if t.Writes() {
				note = a.Say("tool_writes")
			}
			all = append(all, web.Choice{Value: t.Tool.String(), Text: language.OneLine(t.Title) + " " + note})
		}
	}
	return all
}
