package subject

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

// Files reads conversations' files, and what actions made of them. *large.Versions implements it.
type Files interface {
	Difference(ctx context.Context, of aggregate.Ref, base, version string) ([]files.Change, error)
	Get(ctx context.Context, of aggregate.Ref, version string) (*files.Tree, error)
	Link(ctx context.Context, of aggregate.Ref, name string, body []byte) (string, error)
}

// talkPage describes a conversation's page, on which people decide.
func (c *Pages) talkPage() web.SubjectPage {
	return web.SubjectPage{Path: "/console/sessions/", RefOf: web.RefOf(conversation.ValidID, conversation.RefOf),
		Ends: conversation.ActClose, Whole: c.wholeAction,
		Show: c.showConversation}
}

// agentRoutes returns the lists of agents with their conversations, of calls and of keys, and each conversation's and
// call's page.
func (c *Pages) agentRoutes() []web.Route {
	return []web.Route{
		web.ForMembers("GET /console/agents", c.agents),
		web.ForMembers("GET /console/sessions/{id}", c.talkPage().Read),
		web.ForMembers("POST /console/sessions/{id}/act", c.Act(c.talkPage())),
		web.ForMembers("GET /console/sessions/{id}/files", web.Of(c.openFiles, c.showFiles)),
		web.ForMembers("GET /console/sessions/{id}/files/raw", web.Of(c.openFiles, c.showRaw)),
		web.ForMembers("GET /console/sessions/{id}/message", c.OpenBeginning(c.talkPage())),
		web.ForAdministrators("GET /console/sessions/{id}/sent", web.Of(c.Of(c.talkPage()), c.sendTalk)),
		web.ForMembers("GET "+callsPath, c.calls),
		web.ForMembers("GET "+callsPath+"/{id}", c.callPage().Read),
		web.ForMembers("POST "+callsPath+"/{id}/act", c.Act(c.callPage())),
		web.ForMembers("GET "+callsPath+"/{id}/message", c.OpenBeginning(c.callPage())),
		web.ForAdministrators("GET "+keysPath, c.keys),
		web.ForAdministrators("POST "+keysPath, c.saveKey),
	}
}

type agentsPage struct {
	web.List
	Rows   []listedRow
	Agents []tenancy.Agent
	words  web.Texts
}

// May are what an agent may propose, in words.
func (p agentsPage) May(d tenancy.Agent) (all []string) {
	for _, x := range tenancy.ActionTypes {
		if d.May(x) {
			all = append(all, tenancy.ActionsCalled(p.words.Locale())[x])
		}
	}
	return all
}

type listedRow struct {
	ID, Title, Status, Badge string
	Agent, Name              string
	Channel, Cost            string
	Created, Active          time.Time
}

// agentsPath is the address of the list.
const agentsPath = "/console/agents"

func (c *Pages) agents(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("agents")
	p := agentsPage{words: words}
	settings, err := c.Store.Settings(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	p.Agents = tenancy.Agents(settings.Agents, c.Outbound)
	p.Hints = []string{words.Say("empty_about"), words.Say("example", "agent", tenancy.DefaultAgent(p.Agents).ID),
		words.Say("empty_thread")}
	if !v.Admin {
		p.Hints = append(p.Hints, words.Say("empty_mine"))
	}
	page, reach, err := web.ReadList(c.Site, r, v, &p.List, web.ByCursor(agentsPath),
		func(reach people.Reach, cursor string) (store.Page[conversation.Conversation], error) {
			var keep func(conversation.Conversation) bool
			if !v.Admin { // members see only their own conversations and those in their channels
				keep = func(x conversation.Conversation) bool { return reach.Sees(x.Origin()) }
			}
			return c.Conversations.Listed(r.Context(), v.Tenant, cursor, rowsOfPage, web.MostLooked, keep)
		})
	if err != nil {
		return err
	}
	channels := reach.Channels()
	by := web.Reader{ChannelOf: func(id string) string { return web.ChannelName(channels, id) }}
	c.Naming(r.Context(), v, func(called func(id string) string) {
		p.Rows = web.Each(page.Items, func(x conversation.Conversation) listedRow {
			row := listedRow{ID: x.ID, Title: cmp.Or(language.ForeignLine(by.Named(x.Title, called)), v.Untitled()),
				Agent: labelOf(p.Agents, x.AgentID), Name: called(x.Opener), Channel: web.Channel(v, x.Origin(), channels),
				Cost: web.Spent(v.Locale, x.Usage.Cost, x.Usage.Unpriced), Created: x.CreatedAt, Active: x.LastActivityAt}
			row.Status, row.Badge = statusOf(words, x)
			return row
		})
	})
	return c.Show(w, r, v, web.Document{Here: "agents", Data: p}, "agents")
}

// labelOf returns the agent's name, or its id if the agent was removed.
func labelOf(defs []tenancy.Agent, id string) string {
	d, ok := tenancy.AgentByID(defs, id)
	if !ok {
		return language.OneLine(id)
	}
	return language.OneLine(d.Label())
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
