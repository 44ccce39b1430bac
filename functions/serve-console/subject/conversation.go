package subject

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// saidOfPage is the number of messages on a page; the newest come first.
const saidOfPage = 100

// loadedTalk holds the rows that a conversation's page is rendered from.
type loadedTalk struct {
	web.Loaded
	is       *conversation.Aggregate
	actions  []*conversation.Action // by number; includes archived actions
	defs     []tenancy.Agent
	said     []conversation.Message
	before   string                          // key of the message before which said ends; empty: it has the newest
	summary  *conversation.Message           // replaces the older messages
	asked    map[string]conversation.Payload // payloads by action, if they can be shown completely
	log      []conversation.LogEntry
	logged   int            // number of the action whose output is in log
	chosen   bool           // the reader chose that action
	became   []files.Change // what that action changed
	returned string         // what the agent was given of its result, of a call
	person   func(id string) string
	channel  func(id string) string
	surface  explain.Surface
}

type conversationPage struct {
	web.Sheet
	Of                   *conversation.Aggregate
	Is                   *conversation.Conversation
	Person               func(id string) string
	Agent, AgentID, Gone string // Gone: the agent was removed
	Channel              string
	Trouble              string  // why the agent can't answer
	Source               *source // nil: none
	Cost, Limit          string
	Summary              *conversation.Message // of older messages
	SummaryGone          bool                  // it has expired, like the messages in it
	Originals            string                // address of the messages that the summary replaces
	Said, Before         []saidRow             // the newest, and those before them
	Older, Newest        string
	Actions              []actionRow
	Past                 bool // some of them don't stand above
}

var saidKey = language.Regexp{Text: `^[0-9]{4}-[0-9T:.Z-]{10,30}#[0-9a-f-]{36}!?$`}

// loadTalk reads the session in the address if the viewer may see it.
func (c *Pages) loadTalk(r *http.Request, v *web.Viewer) (t loadedTalk, err error) {
	if t.Loaded, err = c.Load(r, v, c.talkPage()); errors.Is(err, aggregate.ErrNotFound) {
		err = fmt.Errorf("%w: %w", web.ErrDeletable, err)
	}
	if err != nil {
		return t, err
	}
	t.is = t.Of.(*conversation.Aggregate)
	ctx, q, ref := r.Context(), r.URL.Query(), t.is.Ref()
	t.defs = tenancy.Agents(t.Settings.Agents, c.Outbound)
	t.channel = c.ChannelsOf(ctx, v, t.is.Origin(), v.Texts("conversation").Say("that_channel"))
	if t.before = q.Get("before"); t.before != "" && !saidKey.Get().MatchString(t.before) {
		return t, fmt.Errorf("a message's key: %w", aggregate.ErrNotFound)
	}
	if t.said, err = c.Conversations.Newest(ctx, ref.Tenant, ref.ID, t.before, saidOfPage); err != nil {
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
	return t, c.actionsOf(ctx, ref, &t, q.Get("log"))
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
func (c *Pages) actionsOf(ctx context.Context, ref aggregate.Ref, t *loadedTalk, number string) (err error) {
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
	t.logged = x.Number
	if t.asked, err = c.payloads(ctx, ref, t.actions, x); err == nil {
		t.became, err = c.became(ctx, ref, x)
	}
	if err == nil {
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

// showConversation renders the page; not is what the viewer tried in vain.
func (c *Pages) showConversation(w http.ResponseWriter, r *http.Request, v *web.Viewer, not web.Ask) error {
	t, err := c.loadTalk(r, v)
	if err != nil {
		return err
	}
	words, s := v.Texts("conversation"), t.is.Conversation
	p, title, by := conversationPage{}, "", web.Reader{ChannelOf: t.channel}
	c.Naming(r.Context(), v, func(called func(id string) string) {
		t.person = func(id string) string { return cmp.Or(called(id), words.Say("system")) }
		t.surface = web.SurfaceOf(v, called, t.channel)
		t.surface.WhoDecides(t.Settings, t.is.Origin(), t.is.Askers()...)
		p, title = t.drawn(v, words), by.Named(s.Title, called)
	})
	p.Ask = not
	x := web.Asking{Loaded: t.Loaded, Words: words, Surface: t.surface, Viewer: v, On: c.talkPage(), Offers: t.is.Offers(),
		Stands: p.Stands}
	if current := t.is.Current(); current != nil {
		payload, shown := t.asked[current.ActionID]
		x.Whole = shown && explain.Unapprovable(payload, v.Locale) == ""
		if x.Waits = current.Status == conversation.ActionPending; x.Waits {
			p.Until = web.TimeOf(current.Gate.Terms.DecideBy)
			x.Now = fmt.Sprintf("%s: %s #%d", actionStatus(v.Locale, current.Status),
				explain.ActionCalled(current, v.Locale), current.Number)
		}
	}
	if err := c.Asks(r, x, &p.Ask); err != nil {
		return err
	}
	if !x.Waits && s.Status == conversation.Open && p.Problem != "" {
		p.Since.Now = "" // that the conversation is open says nothing of what was decided
	}
	return c.Show(w, r, v, web.Document{Title: cmp.Or(language.ForeignLine(title), v.Untitled()), Here: "agents",
		Data: p, Status: not.Code, After: p.After}, "conversation")
}

// drawn is the page without whom it asks.
func (t *loadedTalk) drawn(v *web.Viewer, words web.Texts) (p conversationPage) {
	s := t.is.Conversation
	p.Of, p.Is, p.Person, p.ID, p.Path = t.is, s, t.person, s.ID, "/console/sessions/"+s.ID
	switch {
	case t.before != "":
		p.Newest = p.Path
	case s.Status == conversation.Closed:
	case t.chosen:
		p.Live = p.Path + "?log=" + strconv.Itoa(t.logged)
	default:
		p.Live = p.Path
	}
	p.Stands, p.Badge = statusOf(v.Texts("agents"), *s)
	p.Agent, p.AgentID = labelOf(t.defs, s.AgentID), language.OneLine(s.AgentID)
	if _, ok := tenancy.AgentByID(t.defs, s.AgentID); !ok {
		p.Gone = words.Say("agent_gone")
	}
	if p.Channel = t.channel(s.Channel); s.ChannelType == "im" {
		p.Channel = v.Texts("tasks").Say("direct")
	}
	if s.Source != nil {
		p.Source = sourceOf(words, *s.Source, v.Locale)
	}
	if s.Status == conversation.Failing {
		p.Trouble = explain.EndedInTalk(v.Locale, s.Error, language.ForeignLine(s.ErrorDetail))
	}
	p.Cost = web.Spent(v.Locale, s.Usage.Cost, s.Usage.Unpriced)
	if most := t.Settings.MaxCost(); most > 0 {
		p.Limit = most.String()
	}
	if o := t.is.OpenOffer(); o != nil {
		p.About, p.Quoted = words.Say("offered"), o.Text
	}
	for _, x := range slices.Backward(t.actions) {
		row := t.action(x, p.Path, words, v.Locale)
		p.Actions, p.Past = append(p.Actions, row), p.Past || !row.Open
	}
	p.Say(t.Loaded, v.Locale, t.person, func(id string) string { return labelOf(t.defs, id) })
	p.messages(t, words)
	for _, o := range t.is.Offered {
		t.person(o.MadeBy)
	}
	t.person(s.Opener)
	t.person(s.ClosedBy)
	return p
}

// wholeAction refuses to approve an action that the page could not show completely.
func (c *Pages) wholeAction(r *http.Request, _ *web.Viewer, a decide.Subject, x web.Tried) error {
	of, is := a.(*conversation.Aggregate)
	if !is || !of.Asked(x.ID).Open {
		return nil
	}
	p, err := web.ReadPayload(r.Context(), c.Site, a.Ref(), of.Action(x.ID))
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
