package subject

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// SuccessorPages are where administrators put somebody in the place of a person whom a route asks.
type SuccessorPages struct {
	*Acts
	known people.Requesters
}

// Routes returns the page of a successor of each kind of gate.
func (c *SuccessorPages) Routes() (all []web.Route) {
	for _, on := range []Page{
		{Path: "/console/tasks/", RefOf: RefOf(aggregate.ValidID, task.RefOf)},
		{Path: "/console/sessions/", RefOf: RefOf(conversation.ValidID, conversation.RefOf)},
		{Path: "/console/calls/", RefOf: RefOf(call.ValidID, call.RefOf)},
	} {
		ask := func(w http.ResponseWriter, r *http.Request, v *web.Viewer, a decide.Subject) error {
			return c.show(w, r, v, on, a, successorBy(r), nil)
		}
		stand := func(w http.ResponseWriter, r *http.Request, v *web.Viewer, a decide.Subject) error {
			return c.stand(w, r, v, on, a)
		}
		all = append(all, web.ForAdministrators("GET "+on.Path+"{id}/successor", web.Of(c.Of(on), ask)),
			web.ForAdministrators("POST "+on.Path+"{id}/successor", web.Of(c.Of(on), stand)))
	}
	return all
}

// RefOf returns what reads from an address its subject, always within the viewer's workspace.
func RefOf(valid func(id string) bool, of func(tenant, id string) aggregate.Ref) func(
	*http.Request, *web.Viewer) (aggregate.Ref, error) {
	return func(r *http.Request, v *web.Viewer) (aggregate.Ref, error) {
		id := r.PathValue("id")
		if !valid(id) {
			return aggregate.Ref{}, web.ErrNoID
		}
		return of(v.Tenant, id), nil
	}
}

// succession finds who may take somebody's place.
func (c *SuccessorPages) succession() *decide.Succession {
	return &decide.Succession{Rows: c.Store.KindStore.Store, Slack: slack{c.Slack, c.Listing}, Known: &c.known,
		Standing: c.standing, Now: c.Now}
}

// slack asks about groups by the list of the workspace's.
type slack struct {
	people.Groups
	listing people.Listing
}

func (s slack) Usergroups(ctx context.Context) ([]slackapi.Group, error) {
	return s.listing.Usergroups(ctx)
}

func (c *SuccessorPages) standing(ctx context.Context, tenant string) (decide.StandingOrganisation, error) {
	is, err := c.Organisations.Current(ctx, tenant)
	return decide.StandingOrganisation{Organisation: decide.Standing(is, nil), On: []aggregate.Owned{
		{Key: tenancy.OrganisationKey, Rev: is.Rev, Err: aggregate.ErrSettings}}}, err
}

// person is somebody who may be chosen.
type person struct {
	ID, Name, Via string
	Chosen        bool
}

type pageData struct {
	Asks                decide.Replaced
	Action, Back, Asked string
	Request, By         string // whose it is
	Rule, Stage, Who    string
	People              []person
	Named               bool // the rule still has the stage, or the home is asked
	OfHome              bool
	Reason, Problem     string
	Most                int
}

// triedBy reads what a form or a link asks for.
func successorBy(r *http.Request) decide.Successor {
	stage, _ := strconv.Atoi(r.FormValue("stage")) // 0 is no stage
	return decide.Successor{Replaced: decide.Replaced{Gate: r.FormValue("gate"), Stage: stage, For: r.FormValue("for")},
		To: r.PostFormValue("to"), Hash: r.PostFormValue("asked"),
		Reason: strings.ReplaceAll(r.PostFormValue("reason"), "\r\n", "\n")}
}

// show asks whom to choose. why is why nobody was chosen, if somebody tried.
func (c *SuccessorPages) show(w http.ResponseWriter, r *http.Request, v *web.Viewer, on Page, a decide.Subject,
	x decide.Successor, why error) error {
	n, err := c.succession().Naming(r.Context(), a, x.Replaced, v.User)
	silent := err != nil && why != nil && n.Gate != nil && explain.ClassOf(err) == explain.Unverified
	if err != nil && !silent {
		return err
	}
	g := n.Gate
	offered, hindered := n.Offers(x.Replaced, v.User, c.Now())
	tried := why != nil
	if !tried {
		why = hindered
	}
	ids, named := []string{x.For, x.To, a.Origin().User}, offered
	if r, is := errors.AsType[*circulation.Refusal](why); is {
		named = slices.Concat(offered, r.People)
	}
	for _, p := range named {
		ids = append(ids, p.User)
	}
	name := c.Called(r.Context(), v, ids...)
	reader := Reader{Locale: v.Locale, Person: name, Unit: c.Departments(r.Context(), v)}
	words := v.Texts("successor")
	d := pageData{Action: on.Path + a.Ref().ID + "/successor", Back: on.Path + a.Ref().ID, Asked: g.AskedSum,
		Request: cmp.Or(card.OneLine(decide.TitleOf(a)), v.Untitled()), By: name(a.Origin().User),
		Asks: x.Replaced, Stage: reader.Called(g, x.Stage), Who: name(x.For), Named: n.Named,
		OfHome: n.OfHome, Reason: x.Reason, Most: circulation.MaxText}
	if rule := g.Terms.Rule; rule != nil {
		d.Rule = card.OneLine(rule.Name)
	}
	d.People = web.Each(offered, func(p circulation.Person) person {
		return person{p.User, name(p.User), reader.Via(p.Via), p.User == x.To}
	})
	if silent && x.To != "" { // what was typed stays, for another try
		d.People = []person{{ID: x.To, Name: name(x.To), Chosen: true}}
	}
	slices.SortStableFunc(d.People, func(a, b person) int { return cmp.Compare(a.Name, b.Name) })
	status := http.StatusOK
	if tried {
		status, _ = NotDone(r, v, Tried{}, why)
	}
	if why != nil {
		surface := SurfaceOf(v, name, func(string) string {
			return c.ChannelOf(r.Context(), v, a.Origin(), words.Say("that_channel"))
		})
		d.Problem = surface.Note(why)
		r, _ := errors.AsType[*circulation.Refusal](why)
		switch {
		case r != nil && r.Why == circulation.WhySelf && !r.Put:
			d.Problem = words.Say("own_request")
		case r != nil && r.Why == circulation.WhyParty && x.For == v.User:
			d.Problem = words.Say("own_place")
		case r != nil && r.Why == circulation.WhyParty && x.To == v.User:
			d.Problem = words.Say("to_self")
		case r != nil && r.Why == circulation.WhyParty && !tried: // nobody but the viewer could be chosen
			d.Problem = words.Say("only_self")
		}
	}
	doc := web.Document{Title: words.Say("name_successor"), Here: "approvals", Data: d, Status: status}
	return c.Show(w, r, v, doc, "stand-ins/successor")
}

func (c *SuccessorPages) stand(w http.ResponseWriter, r *http.Request, v *web.Viewer, on Page, a decide.Subject) error {
	x := successorBy(r)
	ctx, cancel := context.WithTimeout(r.Context(), Within)
	defer cancel()
	verdict := c.Maker().Stand(ctx, c.succession(), a, c.Click(v, a.Ref(), x.Gate), x)
	if verdict.Err == nil {
		return c.Done(w, r, on.Path+a.Ref().ID, "act_stand")
	}
	if verdict.Unsaved() && explain.ClassOf(verdict.Err) != explain.Unverified {
		return verdict.Err
	}
	return c.show(w, r, v, on, a, x, verdict.Err)
}

// Gone returns why people whom gates name may not stamp any more, by id. With explain.ErrUnverified there may be
// others, or Slack doesn't answer. A gate may be nil.
func (c *Acts) Gone(ctx context.Context, v *web.Viewer, gates ...*aggregate.Gate) (map[string]tenancy.Rule, error) {
	members, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now())
	var ids []string
	for _, g := range gates {
		if g != nil && err == nil {
			ids = append(ids, NamedOf(g)...)
		}
	}
	if len(ids) == 0 {
		return nil, err
	}
	return members.Gone(ctx, c.Slack, ids)
}

// Vacant is somebody who can't stamp any more, and where their successor is named.
type Vacant struct {
	Stage, Who, Why, Path string
	Now                   bool // they are asked
	of                    circulation.Vacant
}

// Vacant draws those without whom a gate can't be settled.
func (r Reader) Vacant(g *aggregate.Gate, gone map[string]tenancy.Rule, to func(int, string) string) []Vacant {
	return web.Each(g.Stuck(func(user string) bool { return gone[user] != "" }), func(p circulation.Vacant) Vacant {
		st := circulation.Walk(g.Circulating())
		user, stage := p.Person.User, r.Called(g, p.Stage)
		why := string(gone[user])
		if why == "" {
			why = "answers"
		}
		return Vacant{stage, r.Person(user), web.TextsOf("successor", r.Locale).In("gone", why), to(p.Stage, user),
			p.Stage == st.Present, p}
	})
}

// Successors returns where an administrator names who takes a person's place at a gate's stage, below its page.
func Successors(path, gate string) func(stage int, user string) string {
	return func(stage int, user string) string {
		return web.At(path+"/successor", map[string]string{"gate": gate, "stage": strconv.Itoa(stage), "for": user})
	}
}
