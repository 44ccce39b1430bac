package conversation

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/words/legible"
)

// rowsOfPage is the number of conversations on a page of the list.
const rowsOfPage = 50

// Pages serves the list of agents and conversations, and each conversation's page.
type Pages struct {
	*subject.Acts
	Conversations *store.ConversationStore
	Who           Agents
	Outbound      []string // private addresses (host:port) where agents may run, besides all public ones
	Files         Files    // nil: no files are shown
}

// Files reads conversations' files, and what actions made of them. *large.Versions implements it.
type Files interface {
	Difference(ctx context.Context, of large.VersionsOf, base, version string) ([]files.Change, error)
	Manifest(ctx context.Context, of large.VersionsOf, version string) (files.Manifest, error)
	Each(ctx context.Context, of large.VersionsOf, version string, list []files.Entry,
		take func(e files.Entry, content []byte) error) error
	Link(ctx context.Context, of large.VersionsOf, name string, body []byte) (string, error)
	Made(ctx context.Context, of large.VersionsOf, version string, action int) (files.Made, error)
}

// page describes a conversation's page, on which people decide, to package subject.
func (c *Pages) page() subject.Page {
	return subject.Page{Path: "/console/sessions/", RefOf: refOf, Ends: conversation.ActClose, Whole: c.wholeAction,
		Refused: c.refused}
}

func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForMembers("GET /console/agents", c.agents),
		web.ForMembers("GET /console/sessions/{id}", web.Of(c.load, c.showConversation)),
		web.ForMembers("POST /console/sessions/{id}/act", c.Act(c.page())),
		web.ForMembers("GET /console/sessions/{id}/actions/{number}/{text}", web.Of(c.asked, c.showAsItIs)),
		web.ForMembers("GET /console/sessions/{id}/actions/{number}/became/{text}", web.Of(c.asked, c.showBecame)),
		web.ForMembers("GET /console/sessions/{id}/files", web.Of(c.openFiles, c.showFiles)),
		web.ForMembers("GET /console/sessions/{id}/files/raw", web.Of(c.openFile, c.showRaw)),
		web.ForMembers("POST /console/sessions/{id}/propose", web.Of(c.Of(c.page()), c.propose)),
		web.ForMembers("GET /console/sessions/{id}/message", c.OpenBeginning(c.page())),
		web.ForAdministrators("GET /console/sessions/{id}/sent", web.Of(c.used, c.sendSent)),
	}
}

type agentsPage struct {
	web.List
	Rows     []listedRow
	Agents   []agentRow
	Warnings []agentWarning
	Rules    []autoRule
	Example  string
	Unknown  bool // whether agents can answer could not be found out
	Demo     bool // the demo model answered the newest conversation, whatever the settings say
}

type listedRow struct {
	ID, Title, Status, Badge string
	Agent, Name, PersonPath  string
	Channel, Cost            string
	Created, Active          time.Time
}

type agentRow struct {
	ID, Label, About, Provider, Model string
	May                               []string
	Default, Custom                   bool
	Answers, Lacks                    string // which model answers in place of its own, or why none does
	Missing                           string // the key or the model that is missing, for administrators
	Endpoint, Key                     string // for administrators
}

// agentWarning says why an entry of the settings is ignored.
type agentWarning struct {
	Row              int // from 1
	ID, Field, Limit string
	KeepsBuiltIn     bool
}

// autoRule is a rule that lets an action begin without approval.
type autoRule struct {
	Argv      []string
	Workspace string
}

type filter struct{ status, person, cursor string }

// statuses are what the list can be narrowed to.
var statuses = []conversation.Status{conversation.Open, conversation.Executing, conversation.Failing,
	conversation.Closed}

func readFilter(q url.Values) (f filter, bad web.BadFilter) {
	f, bad = filter{q.Get("status"), q.Get("person"), q.Get("cursor")}, web.BadFilter{}
	_, known := conversation.Moves[conversation.Status(f.status)]
	bad.Refuse("status", &f.status, !known)
	bad.Person("started_by", &f.person)
	return f, bad
}

// agentsPath is the address of the list.
const agentsPath = "/console/agents"

// at returns the address of the page at a cursor.
func (f filter) at(cursor string) string {
	return web.At(agentsPath, map[string]string{"status": f.status, "person": f.person, "cursor": cursor})
}

// narrows reports whether the filter excludes anything.
func (f filter) narrows() bool { return f.status != "" || f.person != "" }

// form is the filter as people fill it in.
func (f filter) form(words web.Texts, people []web.Choice) web.Filter {
	return web.Filter{Path: agentsPath, Search: true, Submit: words.Say("filter"),
		Links: web.Cleared(agentsPath, words.Say("clear"), f.narrows()),
		Fields: []web.Field{web.Select("status", words.Say("status"), words.Say("anything"),
			web.Choices(words, "statuses", f.status, statuses...)),
			web.Select("person", words.Say("started_by"), words.Say("anybody"), people)}}
}

func (c *Pages) agents(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("agents")
	f, bad := readFilter(r.URL.Query())
	bad.Stranger(r, c.Site, v, "started_by", &f.person)
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	p := agentsPage{}
	p.Ignored, p.Narrowed = bad.Said(words), f.narrows()
	p.Views = []web.View{{Path: agentsPath, Text: words.Say("all"), Here: f.person == ""},
		{Path: filter{person: web.Myself}.at(""), Text: words.Say("mine"), Here: f.person == web.Myself}}
	defs := p.define(c, v, settings)
	p.answering(r.Context(), c.Who, v)
	read := func(reach people.Reach) (store.Page[conversation.Conversation], error) {
		return c.visible(r, v, f, reach)
	}
	page, reach, led, err := web.ReadList(c.Site, w, r, v, &p.List, f.cursor, f.at, read)
	if err != nil || led {
		return err
	}
	p.fill(c, r, v, f, page, reach, defs)
	d := web.Document{Here: "agents", Data: p, Status: p.Status()}
	return c.Show(w, r, v, d, "agents")
}

// visible reads the page of conversations that an address asks for. Members see only their own conversations and those
// in their channels.
func (c *Pages) visible(r *http.Request, v *web.Viewer, f filter,
	reach people.Reach) (store.Page[conversation.Conversation], error) {
	of := store.ConversationFilter{Status: conversation.Status(f.status), Opener: web.Whom(f.person, v)}
	var keep func(conversation.Conversation) bool
	if !v.Admin && of.Opener != v.User {
		keep = func(x conversation.Conversation) bool { return reach.Sees(x.Origin()) }
	}
	return c.Conversations.Listed(r.Context(), v.Tenant, of, f.cursor, rowsOfPage, web.MostLooked, keep)
}

// define lists the agents and the tests that begin without approval; addresses and keys are for administrators.
func (p *agentsPage) define(c *Pages, v *web.Viewer, s tenancy.Settings) []agent.Definition {
	words, of := v.Texts("agents"), v.Texts("settings")
	defs, warnings := agent.Definitions(s.Agents, c.Outbound)
	for _, d := range defs {
		row := agentRow{
			ID: d.ID, Label: legible.OneLine(d.Label()), About: legible.OneLine(d.Metadata["description"]),
			Default:  d.IsDefault,
			Provider: cmp.Or(of.In("columns", "agents.provider="+string(d.Provider)), string(d.Provider)),
			Model:    legible.OneLine(d.Model),
			Custom:   slices.ContainsFunc(s.Agents, func(x agent.Definition) bool { return x.ID == d.ID }),
		}
		for _, x := range agent.ActionTypes {
			if d.May(x) {
				row.May = append(row.May, agent.Called(v.Locale)[x])
			}
		}
		if v.Admin {
			row.Endpoint, row.Key = legible.OneLine(d.Endpoint), keyOf(d, words)
		}
		p.Agents = append(p.Agents, row)
	}
	p.Example = words.Say("example", "agent", agent.Default(defs).ID)
	for _, w := range warnings {
		if v.Admin {
			p.Warnings = append(p.Warnings, agentWarning{w.Entry + 1, legible.OneLine(w.ID), of.In("columns", "agents."+w.Field),
				of.Problem(w.Problem, nil), w.KeepsBuiltIn})
		}
	}
	for i, rule := range s.AutoActions {
		faults := rule.Problems()
		if len(faults) == 0 {
			where := legible.OneLine(rule.Where())
			if rule.Changed {
				where += " (" + words.Say("rule_changed") + ")"
			}
			p.Rules = append(p.Rules, autoRule{web.Each(rule.Argv, legible.Spelled), where})
		} else if v.Admin {
			p.Warnings = append(p.Warnings, agentWarning{Row: i + 1, Field: of.In("columns", "auto_actions."+faults[0].Field),
				Limit: of.Problem(faults[0], nil)})
		}
	}
	return defs
}

// keyOf names the agent's key.
func keyOf(d agent.Definition, words web.Texts) string {
	switch {
	case d.AuthRef != "":
		return legible.OneLine(d.AuthRef)
	case d.Provider == agent.OpenAI, d.Provider == agent.Anthropic:
		return string(d.Provider)
	}
	return words.Say("no_key")
}

// labelOf returns the agent's name, or its id if the agent was removed.
func labelOf(defs []agent.Definition, id string) string {
	d, ok := agent.Find(defs, id)
	if !ok {
		return legible.OneLine(id)
	}
	return legible.OneLine(d.Label())
}

func (p *agentsPage) fill(c *Pages, r *http.Request, v *web.Viewer, f filter,
	page store.Page[conversation.Conversation], reach people.Reach, defs []agent.Definition) {
	words := v.Texts("agents")
	p.Demo = f.cursor == "" && len(page.Items) > 0 && page.Items[0].Provider == aggregate.Demo
	ids := []string{v.User, web.Whom(f.person, v)}
	for _, x := range page.Items {
		ids = append(ids, x.Opener)
	}
	names, channels := c.Names(r.Context(), v, ids...), reach.Channels()
	for _, x := range page.Items {
		by := filter{status: f.status, person: x.Opener}
		row := listedRow{ID: x.ID, Title: cmp.Or(card.OneLine(x.Title), v.Untitled()), Agent: labelOf(defs, x.AgentID),
			Name: card.OneLine(names[x.Opener]), PersonPath: by.at(""), Channel: web.Channel(v, x.Origin(), channels),
			Cost: web.Spent(v.Locale, x.Usage.Cost, x.Usage.Unpriced), Created: x.CreatedAt, Active: x.LastActivityAt}
		row.Status, row.Badge = statusOf(words, x)
		p.Rows = append(p.Rows, row)
	}
	p.Filter = f.form(words, web.PeopleToChoose(v, words, names, web.Whom(f.person, v)))
}

// statusOf returns a session's status in words, and its badge.
func statusOf(t web.Texts, s conversation.Conversation) (text, badge string) {
	switch {
	case s.Status == conversation.Closed:
		return t.In("statuses", s.Status), ""
	case s.PendingActionID != "":
		s.Status = "waiting"
	}
	return t.In("statuses", s.Status), web.Badge(string(s.Status))
}

var actionBadges = map[conversation.ActionStatus]string{
	conversation.ActionPending: "badge-wait", conversation.ActionApproved: "badge-calm",
	conversation.ActionExecuting: "badge-calm", conversation.ActionSucceeded: "badge-good",
	conversation.ActionFailed: "badge-bad",
}

var refOf = subject.RefOf(conversation.ValidID, conversation.RefOf)

// Agents says which agents of a tenant can answer: the function has the models' keys.
type Agents = web.Asks[agent.AnsweringQuery, agent.AnsweringResult]

// askedWithin bounds the question, since somebody waits for the page.
const askedWithin = 8 * time.Second

// answering adds to the agents whether they can answer, and why not. If that can't be found out, the page says so.
func (p *agentsPage) answering(ctx context.Context, who Agents, v *web.Viewer) {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	answer, err := who(ctx, agent.AnsweringQuery{Tenant: v.Tenant})
	if err != nil {
		slog.WarnContext(ctx, "which agents can answer is not shown", "err", err)
		p.Unknown = true
		return
	}
	words := v.Texts("agents")
	for i := range p.Agents {
		row := &p.Agents[i]
		at := slices.IndexFunc(answer.Agents, func(x agent.Answering) bool { return x.ID == row.ID })
		if at < 0 {
			continue
		}
		x := answer.Agents[at]
		row.Default = x.Default
		switch name := legible.OneLine(x.Model); {
		case x.Lacks != "":
			row.Lacks = words.In("lacks", string(x.Lacks))
			if v.Admin && x.Detail != "" {
				row.Missing = legible.OneLine(x.Detail)
			}
		case x.Follows && x.Model == aggregate.Demo:
			row.Answers = words.Say("follows_demo")
		case x.Follows:
			row.Answers = words.Say("follows", "model", name)
		}
		if x.Default {
			p.Example = words.Say("example", "agent", x.ID)
		}
	}
}
