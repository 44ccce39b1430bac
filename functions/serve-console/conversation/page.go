// Package conversation has the pages of conversations with agents: their list, each conversation with its actions, and
// the files that the agent works on.
package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// saidOfPage is the number of messages on a page; the newest come first.
const saidOfPage = 100

// mostEntries is the number of audit entries on a page.
const mostEntries = 100

// loaded holds the rows that the page is rendered from.
type loaded struct {
	is       *conversation.Aggregate
	actions  []*conversation.Action // by number; includes archived actions
	settings tenancy.Settings
	defs     []agent.Definition
	said     []conversation.Message
	summary  *conversation.Message           // replaces the older messages
	asked    map[string]conversation.Payload // payloads by action, if they can be shown completely
	log      []conversation.LogEntry
	logged   int            // number of the action whose output is in log
	chosen   bool           // the reader chose that action
	became   []files.Change // what that action changed
	returned string         // what the agent was given of its result, of a call
	audit    []aggregate.AuditEntry
	more     bool // the audit log goes on
	person   func(id string) string
	surface  explain.Surface
	admin    bool // the reader is an administrator
}

type conversationPage struct {
	Of                   *conversation.Aggregate
	Is                   *conversation.Conversation
	Person               func(id string) string
	Path, Live           string
	StatusText, Badge    string
	Agent, AgentID, Gone string // Gone: the agent was removed
	Channel              string
	Trouble              string // why the agent can't answer
	Workspace            string
	Source               *source // nil: none
	Cost, Limit          string
	Summary              *conversation.Message // of older messages
	SummaryGone          bool                  // it has expired, like the messages in it
	Originals            string                // address of the messages that the summary replaces
	Said, Before, Folded []saidRow             // the newest, those before them, and those that the summary replaces
	Older, Newest        string
	Actions              []actionRow
	Past                 bool // some of them don't stand above
	Log                  []subject.Entry
	LogGoesOn            bool
	First                web.Link // to what waits for a person, if anything does
	subject.Ask
}

// waited are the acts that wait for a person, whatever else they may do.
var waited = []aggregate.Act{aggregate.ActApprove, conversation.ActMakeRequest, conversation.ActCheck}

// first leads from the top of the page to what waits.
func (p *conversationPage) first(t loaded, words web.Texts) {
	for _, o := range t.is.Offers() {
		if p.First = (web.Link{Path: "#acts", Text: words.In("act", o.Act)}); o.Act == aggregate.ActApprove {
			p.First = web.Link{Path: t.place(t.is.Current()), Text: p.Heading}
		}
		if slices.Contains(waited, o.Act) && !p.Since.Shown {
			return
		}
	}
	p.First = web.Link{}
}

var saidKey = language.Regexp{Text: `^[0-9]{4}-[0-9T:.Z-]{10,30}#[0-9a-f-]{36}!?$`}

// load reads the session in the address if the viewer may see it.
func (c *Pages) load(r *http.Request, v *web.Viewer) (t loaded, err error) {
	ref, err := refOf(r, v)
	if err != nil {
		return t, err
	}
	ctx, q := r.Context(), r.URL.Query()
	t.admin = v.Admin
	if t.is, err = c.Conversations.Load(ctx, ref); err == nil {
		t.settings, err = c.Readable(ctx, v, t.is)
	}
	if errors.Is(err, aggregate.ErrNotFound) {
		err = fmt.Errorf("%w: %w", web.ErrDeletable, err)
	}
	if err != nil {
		return t, err
	}
	t.defs = agent.Definitions(t.settings.Agents, c.Outbound)
	before := q.Get("before")
	if before != "" && !saidKey.Get().MatchString(before) {
		return t, fmt.Errorf("a message's key: %w", aggregate.ErrNotFound)
	}
	if t.said, err = c.Conversations.Newest(ctx, ref.Tenant, ref.ID, before, saidOfPage); err != nil {
		return t, err
	}
	if key := t.is.Conversation.SummaryKey; key != "" {
		switch m, err := c.Conversations.Message(ctx, ref.Tenant, ref.ID, key); {
		case errors.Is(err, aggregate.ErrNotFound): // the messages in it have expired, too
		case err != nil:
			return t, err
		default:
			t.summary = &m
		}
	}
	if err = c.actionsOf(ctx, ref, &t, q.Get("log")); err != nil {
		return t, err
	}
	log, err := c.Store.Audit(ctx, ref.Tenant, store.AuditFilter{Resource: ref.ID}, "", mostEntries)
	t.audit, t.more = log.Items, log.Next != ""
	slices.Reverse(t.audit)
	c.namePeople(ctx, v, &t)
	return t, err
}

// archived returns a session's actions, also those that have left it.
func (c *Pages) archived(ctx context.Context, a *conversation.Aggregate) ([]*conversation.Action, error) {
	all := slices.Clone(a.Actions)
	if len(all) == a.Conversation.Actions {
		return all, nil
	}
	old, err := c.Conversations.Archived(ctx, a.Ref().Tenant, a.Ref().ID)
	for i := range old {
		all = append(all, &old[i])
	}
	slices.SortFunc(all, func(a, b *conversation.Action) int { return cmp.Compare(a.Number, b.Number) })
	return all, err
}

// actionsOf reads a session's actions, and the output of the action with a number or else of the newest.
func (c *Pages) actionsOf(ctx context.Context, ref aggregate.Ref, t *loaded, number string) (err error) {
	if t.actions, err = c.archived(ctx, t.is); err != nil || len(t.actions) == 0 {
		return err
	}
	x := t.actions[len(t.actions)-1]
	if x.Status.Over() && t.is.Current() != nil {
		x = t.is.Current()
	}
	if n, err := strconv.Atoi(number); err == nil {
		if i := slices.IndexFunc(t.actions, func(x *conversation.Action) bool { return x.Number == n }); i >= 0 {
			x, t.chosen = t.actions[i], true
		}
	}
	t.asked = c.payloads(ctx, ref, t.actions, x)
	t.logged = x.Number
	if t.became, err = c.became(ctx, ref, x); err == nil {
		t.returned, err = web.Returned(ctx, c.Results, ref, x.CallResult)
	}
	if err != nil {
		return err
	}
	if x.ActionType == conversation.CodeGenerate || x.StartedAt == nil {
		return nil
	}
	t.log, err = c.Conversations.Log(ctx, ref, x.ActionID, conversation.MostLines)
	return err
}

// namePeople looks up the names of everybody on the page in one call.
func (c *Pages) namePeople(ctx context.Context, v *web.Viewer, t *loaded) {
	s := t.is.Conversation
	ids := append([]string{s.Opener, s.ClosedBy}, t.settings.Approvers.Users...)
	for _, m := range t.said {
		ids = append(ids, m.User)
		for _, e := range m.Thread {
			ids = append(ids, e.User)
		}
		ids = append(ids, m.Quotes()...)
	}
	for _, x := range t.actions {
		ids = append(ids, x.Gate.ApprovedBy, x.Gate.RejectedBy, x.CancelledBy)
		ids = append(ids, x.Askers...)
		if p := t.asked[x.ActionID]; p.Tool != "" {
			effectOf(p, v.Locale, func(id string) string { ids = append(ids, id); return id })
		}
	}
	for _, e := range t.audit {
		if e.ActorType == aggregate.ActorUser {
			ids = append(ids, e.ActorID)
		}
	}
	names := c.Names(ctx, v, ids...)
	t.person = func(id string) string { return cmp.Or(card.OneLine(names[id]), id, v.Texts("task").Say("system")) }
	channel := c.ChannelsOf(ctx, v, s.Origin(), v.Texts("conversation").Say("that_channel"))
	t.surface = subject.SurfaceOf(v, t.person, channel)
}

func (c *Pages) showConversation(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loaded) error {
	return c.showPage(w, r, v, t, conversationPage{}, 0)
}

// showPage renders the page; p names the refused act, if one was refused.
func (c *Pages) showPage(w http.ResponseWriter, r *http.Request, v *web.Viewer, t loaded, p conversationPage,
	status int) error {
	words, s := v.Texts("conversation"), t.is.Conversation
	p.Of, p.Is, p.Person, p.Path = t.is, s, t.person, "/console/sessions/"+s.ID
	log := r.URL.Query().Get("log")
	if strconv.Itoa(t.logged) != log {
		log = ""
	}
	if before := r.URL.Query().Get("before"); r.Method == http.MethodGet && before != "" {
		p.Newest = p.Path
	} else if s.Status != conversation.Closed {
		p.Live = web.At(p.Path, map[string]string{"log": log})
	}
	c.about(v, t, &p)
	p.messages(t, words)
	for i := len(t.actions) - 1; i >= 0; i-- {
		x := t.action(t.actions[i], p.Path, words, v.Locale)
		p.Actions, p.Past = append(p.Actions, x), p.Past || !x.Open
	}
	ask := subject.Asking{Words: words, Of: t.is, Settings: t.settings, Surface: t.surface, Viewer: v, On: c.page(),
		Offers: t.is.Offers(), Stands: p.StatusText}
	current := t.is.Current()
	if current != nil {
		payload, shown := t.asked[current.ActionID]
		ask.Whole = shown && explain.Unapprovable(payload, v.Locale) == ""
		if ask.Waits = current.Status == conversation.ActionPending; ask.Waits {
			p.Until = web.TimeOf(current.Gate.Terms.DecideBy)
			ask.Now = fmt.Sprintf("%s: %s #%d", words.In("action_status", current.Status),
				explain.ActionCalled(current, v.Locale), current.Number)
		}
	}
	c.Asks(r, ask, &p.Ask)
	if !ask.Waits && s.Status == conversation.Open && p.Problem != "" {
		p.Since.Now = "" // that the conversation is open says nothing of what was decided
	}
	p.first(t, words)
	p.LogGoesOn = t.more
	p.Log = subject.EntriesOf(t.audit, auditlog.WordsIn(v.Locale), t.person,
		func(id string) string { return labelOf(t.defs, id) })
	title := cmp.Or(card.OneLine(s.Title), v.Untitled())
	return c.Show(w, r, v, web.Document{Title: title, Here: "agents", Data: p, Status: status, After: p.After},
		"conversation")
}

// about fills in the top of the page.
func (c *Pages) about(v *web.Viewer, t loaded, p *conversationPage) {
	words, list, s := v.Texts("conversation"), v.Texts("agents"), t.is.Conversation
	p.StatusText, p.Badge = statusOf(list, *s)
	p.Agent, p.AgentID = labelOf(t.defs, s.AgentID), legible.OneLine(s.AgentID)
	if _, ok := agent.Find(t.defs, s.AgentID); !ok {
		p.Gone = words.Say("agent_gone")
	}
	p.Channel = t.surface.Marks.Channel(s.Channel)
	if s.ChannelType == "im" {
		p.Channel = v.Texts("tasks").Say("direct")
	}
	if s.Source != nil {
		p.Workspace = legible.OneLine(s.WorkspacePath)
		p.Source = sourceOf(words, *s.Source, v.Locale)
	}
	if s.Status == conversation.Failing {
		p.Trouble = explain.EndedInTalk(v.Locale, s.Error, card.OneLine(s.ErrorDetail))
	}
	p.Cost = web.Spent(v.Locale, s.Usage.Cost, s.Usage.Unpriced)
	if most := t.settings.MaxCost(); most > 0 {
		p.Limit = most.String()
	}
}

// wholeAction refuses to approve an action that the page could not show completely.
func (c *Pages) wholeAction(r *http.Request, _ *web.Viewer, a decide.Subject, x subject.Tried) error {
	of, is := a.(*conversation.Aggregate)
	if !is || !of.Asked(x.ID).Open {
		return nil
	}
	p, err := subject.ReadPayload(r.Context(), c.Site, a.Ref(), of.Action(x.ID))
	if err == nil && files.Unstampable(p.Changes) != nil {
		err = errors.New("it is over the limits of a difference")
	}
	if err != nil {
		slog.WarnContext(r.Context(), "an action can't be approved that can't be shown", "session_id", a.Ref().ID,
			"err", err)
		return explain.ErrMalformedForm
	}
	return nil
}

// refused renders the page as it is now, with the reason for the refusal and the typed text.
func (c *Pages) refused(w http.ResponseWriter, r *http.Request, v *web.Viewer, x subject.Tried, why error) error {
	t, err := c.load(r, v)
	if err != nil {
		return err
	}
	ask, status := subject.NotDone(r, v, x, why, t.surface.RefusedOn(t.is, why, t.settings))
	return c.showPage(w, r, v, t, conversationPage{Ask: ask}, status)
}
