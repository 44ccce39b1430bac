package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/conversations"
	"ringi/shared/words/legible"
)

// sessionsOfPage is how many conversations a page of the list has.
const sessionsOfPage = 50

func (c *Console) agentsRoutes() []route {
	return []route{
		{"GET /console/agents", anyMember, c.agents},
		{"GET /console/sessions/{id}", anyMember, c.showSession},
		{"POST /console/sessions/{id}/act", anyMember, c.act(c.sessionPage())},
		{"GET /console/sessions/{id}/message", anyMember, c.openBeginning(c.sessionPage())},
		{"GET /console/sessions/{id}/sent", administrator, c.listTalkSent},
		{"GET /console/sessions/{id}/sent/{use}", administrator, c.showTalkSent},
	}
}

// agentsPage is what the page of agents and conversations shows.
type agentsPage struct {
	Status, Person    string
	Statuses, People  []filterChoice
	Bad               []string
	Rows              []sessionRow
	Next, Prev, First string // addresses, empty without such a page
	Live              string
	Narrowed, Short   bool
	Unsaid            bool // Slack does not say which channels the viewer is in
	Agents            []agentRow
	Warnings          []agentWarning
	Rules             []autoRule
	Example           string
	Demo              bool // the newest conversation was answered by the demo, whatever the settings name
}

// sessionRow is a conversation in the list.
type sessionRow struct {
	ID, Title, Status, Badge string
	Agent, Name, PersonPath  string
	Channel, Cost            string
	Created, Active          time.Time
}

// agentRow is somebody to talk with.
type agentRow struct {
	ID, Label, About, Provider, Model string
	May                               []string
	Default, Custom                   bool
	Endpoint, Key                     string // for administrators
}

// agentWarning is an entry of the settings that is left out.
type agentWarning struct {
	Row              int // from 1
	ID, Field, Limit string
	KeepsBuiltIn     bool
}

// autoRule is what begins without approval.
type autoRule struct {
	Argv      []string
	Workspace string
}

// sessionFilter is what the address of the list says.
type sessionFilter struct{ status, person, cursor string }

func readSessionFilter(q url.Values) (f sessionFilter, bad badFilter) {
	f, bad = sessionFilter{q.Get("status"), q.Get("person"), q.Get("cursor")}, badFilter{}
	if _, known := conversation.SessionMoves[conversation.Status(f.status)]; f.status != "" && !known {
		f.status, bad["status"] = "", true
	}
	if f.person != "" && !personForm.MatchString(f.person) {
		f.person, bad["person"] = "", true
	}
	return f, bad
}

// at is the address of the page behind a cursor.
func (f sessionFilter) at(cursor string) string {
	q := url.Values{}
	for name, value := range map[string]string{"status": f.status, "person": f.person, "cursor": cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return "/console/agents"
	}
	return "/console/agents?" + q.Encode()
}

func (f sessionFilter) opener(viewer string) string {
	if f.person == myself {
		return viewer
	}
	return f.person
}

func (c *Console) agents(w http.ResponseWriter, r *http.Request, v *viewer) error {
	words := v.texts("agents")
	f, bad := readSessionFilter(r.URL.Query())
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	p := agentsPage{Status: f.status, Person: f.person, Bad: problems(words, bad), Narrowed: f.status != "" || f.person != ""}
	defs := p.define(c, v, settings)
	reach, err := c.People.Sight(r.Context(), v.Team, v.User)
	if err != nil {
		slog.WarnContext(r.Context(), "a person's channels are not known", "err", err)
		p.Unsaid = true
	}
	page := store.Page[conversation.Session]{}
	if len(bad) == 0 {
		if page, err = c.sessionsSeen(r, v, f, reach); badCursor(err) {
			refuse(r, v, err.Error())
			p.Bad = append(p.Bad, v.texts("layout").Say("bad_cursor"))
		} else if err != nil {
			return err
		}
	}
	if f.cursor != "" {
		if p.First = f.at(""); len(p.Bad) == 0 && page.Prev == "" && page.Looked > 0 {
			http.Redirect(w, r, p.First, http.StatusSeeOther)
			return nil
		}
	}
	p.fill(c, r, v, f, page, reach, defs)
	d := document{Title: words.Say("title"), Here: "agents", Data: p}
	if len(p.Bad) > 0 {
		d.Status = http.StatusBadRequest
	}
	return c.show(w, r, v, d, "agents.html")
}

// sessionsSeen is the page of conversations that an address asks for, of which a member sees their own and those of their channels.
func (c *Console) sessionsSeen(r *http.Request, v *viewer, f sessionFilter, reach people.Reach) (store.Page[conversation.Session], error) {
	filter := conversations.Filter{Status: conversation.Status(f.status), Opener: f.opener(v.User)}
	var keep func(conversation.Session) bool
	if !v.Admin && filter.Opener != v.User {
		keep = func(x conversation.Session) bool { return reach.Sees(x.Origin()) }
	}
	return c.Sessions.Listed(r.Context(), v.Tenant, filter, f.cursor, sessionsOfPage, mostLooked, keep)
}

// define says whom people can talk with, and what of their proposals needs nobody. Where an agent is and which key it takes
// is for administrators.
func (p *agentsPage) define(c *Console, v *viewer, s tenancy.Settings) []agent.Definition {
	words, of := v.texts("agents"), v.texts("settings")
	defs, warnings := agent.Definitions(s.Agents, c.Outbound)
	for _, d := range defs {
		row := agentRow{
			ID: d.ID, Label: legible.OneLine(d.Label()), About: legible.OneLine(d.Metadata["description"]), Default: d.IsDefault,
			Provider: cmp.Or(of.In("columns", "agents.provider="+string(d.Provider)), string(d.Provider)), Model: legible.OneLine(d.Model),
			Custom: slices.ContainsFunc(s.Agents, func(x agent.Definition) bool { return x.ID == d.ID }),
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
			p.Warnings = append(p.Warnings, agentWarning{w.Entry + 1, legible.OneLine(w.ID), of.In("columns", "agents."+w.Field), settingsTexts{of}.rule(tenancy.Rule(w.Rule)), w.KeepsBuiltIn})
		}
	}
	for i, rule := range s.AutoActions {
		faults := rule.Faults()
		if len(faults) == 0 {
			p.Rules = append(p.Rules, autoRule{spelledAll(rule.Argv), legible.OneLine(rule.Workspace)})
		} else if v.Admin {
			p.Warnings = append(p.Warnings, agentWarning{Row: i + 1, Field: of.In("columns", "auto_actions."+faults[0].Field), Limit: settingsTexts{of}.rule(tenancy.Rule(faults[0].Rule))})
		}
	}
	return defs
}

// keyOf names the key that an agent takes. The page can't see keys: whether it is there shows when the agent answers.
func keyOf(d agent.Definition, words web.Texts) string {
	switch {
	case d.AuthRef != "":
		return legible.OneLine(d.AuthRef)
	case d.Provider == agent.OpenAI, d.Provider == agent.Anthropic:
		return string(d.Provider)
	}
	return words.Say("no_key")
}

func spelledAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, s := range texts {
		out[i] = legible.Spelled(s)
	}
	return out
}

// labelOf is the name of a session's agent; its id, if there is no such agent any more.
func labelOf(defs []agent.Definition, id string) string {
	d, ok := agent.Find(defs, id)
	if !ok {
		return legible.OneLine(id)
	}
	return legible.OneLine(d.Label())
}

// fill puts a page of conversations into the list.
func (p *agentsPage) fill(c *Console, r *http.Request, v *viewer, f sessionFilter, page store.Page[conversation.Session], reach people.Reach, defs []agent.Definition) {
	words := v.texts("agents")
	p.Demo = f.cursor == "" && len(page.Items) > 0 && page.Items[0].Provider == modelname.Demo
	p.Short = page.Looked >= mostLooked
	if page.Next != "" {
		p.Next = f.at(page.Next)
	}
	if page.Prev != "" {
		p.Prev = f.at(page.Prev)
	}
	if f.cursor == "" && page.Looked <= mostLive && len(p.Bad) == 0 {
		p.Live = f.at("")
	}
	ids := []string{v.User, f.opener(v.User)}
	for _, x := range page.Items {
		ids = append(ids, x.Opener)
	}
	names, channels := c.names.Of(r.Context(), c.Slack, v.Team, c.Now(), ids...), reach.Channels()
	for _, x := range page.Items {
		by := sessionFilter{status: f.status, person: x.Opener}
		p.Rows = append(p.Rows, sessionRow{
			ID: x.ID, Title: cmp.Or(card.OneLine(x.Title), v.untitled()), Status: statusOf(words, x), Badge: sessionBadge(x), Agent: labelOf(defs, x.AgentID),
			Name: card.OneLine(names[x.Opener]), PersonPath: by.at(""), Channel: channel(v, x.Origin(), channels),
			Cost: x.Usage.Cost.String(), Created: x.CreatedAt, Active: x.LastActivityAt,
		})
	}
	for _, s := range []conversation.Status{conversation.Open, conversation.Executing, conversation.Failing, conversation.Closed} {
		p.Statuses = append(p.Statuses, filterChoice{string(s), words.In("statuses", string(s)), f.status == string(s)})
	}
	p.People = []filterChoice{{myself, words.Say("myself"), f.opener(v.User) == v.User}}
	for id, name := range names {
		if id != v.User {
			p.People = append(p.People, filterChoice{id, card.OneLine(name), id == f.opener(v.User)})
		}
	}
	slices.SortFunc(p.People[1:], func(a, b filterChoice) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Value, b.Value)) })
}

// waitsFor is how a session stands while one of its actions waits for a person.
const waitsFor = "waiting"

// statusOf says how a session stands, for people.
func statusOf(t web.Texts, s conversation.Session) string {
	if s.Status != conversation.Closed && s.PendingActionID != "" {
		return t.In("statuses", waitsFor)
	}
	return t.In("statuses", string(s.Status))
}

func sessionBadge(s conversation.Session) string {
	switch {
	case s.Status == conversation.Closed:
		return ""
	case s.PendingActionID != "":
		return "badge-wait"
	case s.Status == conversation.Failing:
		return "badge-bad"
	case s.Status == conversation.Executing:
		return "badge-calm"
	}
	return "badge-good"
}

// actionBadge is the colour of an action's status.
func actionBadge(x *conversation.Action) string {
	return map[conversation.ActionStatus]string{
		conversation.ActionPending: "badge-wait", conversation.ActionApproved: "badge-calm", conversation.ActionExecuting: "badge-calm",
		conversation.ActionSucceeded: "badge-good", conversation.ActionFailed: "badge-bad",
	}[x.Status]
}

// sessionRef is the session that an address names, of the viewer's workspace and no other.
func sessionRef(r *http.Request, v *viewer) (aggregate.Ref, error) {
	id := r.PathValue("id")
	if !conversation.ValidID(id) {
		return aggregate.Ref{}, fmt.Errorf("a session's id: %w", aggregate.ErrNotFound)
	}
	return conversation.RefOf(v.Tenant, id), nil
}
