package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// Store has the aggregates, and saves which message shows which card.
type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Delegations(ctx context.Context, tenant string) ([]tenancy.Delegation, error)
	Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error
	Redraw(ctx context.Context, ref aggregate.Ref) error
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	ClaimCard(ctx context.Context, ref aggregate.Ref, key, by string, now, staleBefore time.Time) (aggregate.Card, error)
	PostedCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head) error
	DoubtCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card) error
	ShownCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, hash string, all *aggregate.Head) error
	GaveBack(ctx context.Context, ref aggregate.Ref, key, receipt string) error
	ResetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) (aggregate.Card, error)
	ReleaseCard(ctx context.Context, ref aggregate.Ref, key, by string) error
	AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error
	UnreachableCard(
		ctx context.Context, ref aggregate.Ref, key, by, messageTS, refusal string, rev int, now time.Time,
	) error
}

type Slack interface {
	Team(ctx context.Context) (string, error)
	decide.AskSlack
	Update(ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata) error
	FindCards(ctx context.Context, channel, thread string, about slackapi.Metadata) ([]string, error)
	Direct(ctx context.Context, user, text string) error
	Suggest(ctx context.Context, channel string, suggestions []card.Suggestion) error
	SetAgentStatus(ctx context.Context, channel, thread string, status slackapi.AgentStatus, title string) error
	SetWaiting(ctx context.Context, channel, thread, text string) error
	Link(ctx context.Context, channel, ts, thread string) string
	PublishHome(ctx context.Context, user string, view slack.HomeTabViewRequest) error
	people.Directory
}

// drawing shows the cards of one task in the state in which it was loaded.
type drawing struct {
	*Handler
	ref      aggregate.Ref
	a        decide.Subject
	head     *aggregate.Head // of a
	settings tenancy.Settings
	away     []circulation.StandIn // for those whose turn it is
	by       string                // id of this invocation
	told     bool                  // the requester already knows that a card can't be shown
	all      *aggregate.Head       // to record as shown with the current card; nil: others are left to draw
	noted    bool                  // a card's row already records that all cards are shown
	unsaved  int                   // messages that may show what their rows don't say
	vacant   bool                  // a copy can't be sent: the card may have to say that it waits for who has left
	tried    time.Time             // when the current card was claimed, or its post was sent
}

// draw posts or updates each card whose content has changed, and then the copies of cards in direct messages. asked is
// the head that the message names. If the aggregate changes meanwhile, another message asks for the rest.
func (h *Handler) draw(ctx context.Context, ref aggregate.Ref, asked aggregate.Head, r receipt) error {
	a, err := h.Store.Load(ctx, ref)
	if err != nil {
		return fmt.Errorf("load %s: %w", ref.Kind, err)
	}
	// a query may return a head that is newer than the rows, and only one that was there before it counts as shown
	head := *a.Root().Common()
	head.Rev, head.Redraws = min(head.Rev, asked.Rev), min(head.Redraws, asked.Redraws)
	d := &drawing{Handler: h, ref: ref, a: a.(decide.Subject), by: h.NewID(), head: &head}
	rows := slices.Concat(d.a.Common().Cards, d.a.Common().Copies)
	if err := d.doubt(ctx, rows, r); err != nil {
		return err
	}
	if err = d.show(ctx); err != nil && d.unsaved == 0 && len(rows) > 0 {
		if err := d.Store.GaveBack(ctx, ref, rows[0].Key(), r.named(r.nth)); err != nil {
			slog.WarnContext(ctx, "note the receipt", ref.Log(), "err", err)
		}
	}
	return err
}

// doubt forgets the hashes of all messages if an earlier receipt may have changed one and not saved that.
func (d *drawing) doubt(ctx context.Context, rows []*aggregate.Card, r receipt) error {
	clean := func(c *aggregate.Card) bool { return c.GivenBack == r.named(r.nth-1) }
	if r.nth == 1 || slices.ContainsFunc(rows, clean) {
		return nil
	}
	for _, c := range rows {
		if c.State != aggregate.CardPosted || c.Hash == "" {
			continue
		}
		if err := d.Store.DoubtCard(ctx, d.ref, c); err != nil {
			return fmt.Errorf("doubt: %w", err)
		}
		c.Hash, c.Drawn = "", c.Drawn+1
	}
	return nil
}

// show does what draw says with what was loaded.
func (d *drawing) show(ctx context.Context) (err error) {
	if d.ref.Kind == conversation.Kind.Name {
		if d.a, err = d.live(ctx); err != nil {
			return err
		}
	}
	if d.a.Origin().Team == "" { // only its head is left, or was read
		return fmt.Errorf("where the cards go: %w", d.a.Readable(d.Now()))
	}
	if ours, err := d.ours(ctx); err != nil || !ours {
		return err
	}
	if err := d.configure(ctx); err != nil {
		return err
	}
	if err := d.standIns(ctx); err != nil {
		return err
	}
	d.told = slices.ContainsFunc(d.a.Common().Cards, func(c *aggregate.Card) bool { return c.Refusal != "" })
	if err := d.cards(ctx); err != nil {
		return err
	}
	d.status(ctx)
	if err := d.directs(ctx); err != nil || d.noted {
		return err
	}
	return d.shown(ctx)
}

// shown records that Slack shows the task at head, unless nothing would follow from that.
func (d *drawing) shown(ctx context.Context) error {
	if d.head.Shown() || !d.a.Effects(d.Now()).Cards {
		return nil
	}
	if err := d.Store.Shown(ctx, d.ref, *d.head); err != nil {
		return fmt.Errorf("note what is shown: %w", err)
	}
	return nil
}

// cards draws those of the cards whose content has changed, as far as the rows tell: large arguments never change, and
// are read only for a card that is drawn. Of what Slack's pace delays the rest of its kind waits, so that the thread
// stays in order; an update that was not answered is repeated later, and holds up no other card.
func (d *drawing) cards(ctx context.Context) error {
	rows, hashes, now := d.inOrder(), map[string]string{}, d.Now()
	rows = slices.DeleteFunc(rows, func(c *aggregate.Card) bool {
		hashes[c.Key()] = card.Hash(d.render(d.a, c, now))
		return c.State == aggregate.CardPosted && c.Hash == hashes[c.Key()] || d.rests(c)
	})
	var behind []error
	limited := map[bool]bool{} // whether updates and posts wait for Slack's pace
	for i, c := range rows {
		posted := c.MessageTS != ""
		if limited[posted] {
			continue
		}
		if i == len(rows)-1 && behind == nil {
			d.all = d.head
		}
		err := d.card(ctx, c, hashes[c.Key()])
		if err == nil {
			continue
		}
		err = fmt.Errorf("card %s: %w", c.Key(), err)
		limit := errors.As(err, new(slackapi.RateLimited))
		if !limit && (!errors.As(err, new(slackapi.Unknown)) || slackapi.Silent(err)) {
			return err
		}
		limited[posted], behind = limit, append(behind, err)
	}
	return errors.Join(behind...)
}

// inOrder returns the cards to be posted, in the order of the thread, and then the others, of which the newest may ask
// somebody.
func (d *drawing) inOrder() []*aggregate.Card {
	cards := slices.Clone(d.a.Common().Cards)
	slices.SortStableFunc(cards, func(a, b *aggregate.Card) int {
		x, y := a.MessageTS != "", b.MessageTS != ""
		switch {
		case x != y && y:
			return -1
		case x != y:
			return 1
		case x:
			return b.CreatedAt.Compare(a.CreatedAt)
		}
		return a.CreatedAt.Compare(b.CreatedAt)
	})
	return cards
}

// card makes a message show its card. hash is that of the card's new content.
func (d *drawing) card(ctx context.Context, c *aggregate.Card, hash string) error {
	opened, err := d.opened(ctx, c)
	if err != nil {
		return err
	}
	return d.send(ctx, c, d.render(opened, c, d.Now()), hash)
}

// opened reads what only a card whose message changes needs: the large arguments of a waiting step, which never change,
// the links of a reminder, what was said in a conversation.
func (d *drawing) opened(ctx context.Context, c *aggregate.Card) (aggregate.Aggregate, error) {
	t, is := d.a.(*task.Aggregate)
	switch {
	case d.ref.Kind == conversation.Kind.Name:
		return d.openedTalk(ctx, c)
	case !is:
		return d.a, nil
	case c.CardType != task.CardStep:
		return t.Linked(func(channel, ts, thread string) string { return d.Slack.Link(ctx, channel, ts, thread) }), nil
	}
	opened, err := d.Results.Opened(ctx, t, c.Subject)
	if err != nil {
		return nil, fmt.Errorf("open the arguments of a step: %w", err)
	}
	return opened, nil
}

// send updates a card's message, or posts it.
func (d *drawing) send(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if c.MessageTS != "" {
		return d.update(ctx, c, m, hash)
	}
	return d.post(ctx, c, m, hash)
}

// rests reports whether a card that Slack refused is left alone. It is tried again at the next revision, at the time
// from TryAgainAt, or after a click on an outdated card has removed shown_rev.
func (d *drawing) rests(c *aggregate.Card) bool {
	_, asked := d.a.Asks()
	again := c.TryAgainAt(asked)
	return c.State == aggregate.CardUnreachable && c.TriedRev >= d.head.Rev && d.head.ShownRev != 0 &&
		(again == nil || d.Now().Before(*again))
}

// thread returns where a card is posted. A copy begins a thread of its own.
func (d *drawing) thread(c *aggregate.Card) string {
	if c.User != "" && !c.TellsGroup() {
		return ""
	}
	_, root := d.a.Beginning()
	return root
}

func (d *drawing) about(c *aggregate.Card) slackapi.Metadata {
	return slackapi.Metadata{Task: d.ref.ID, Card: c.Key()}
}

func (d *drawing) log(c *aggregate.Card) *slog.Logger {
	return slog.With(d.ref.Log(), "card", c.Key(), "rev", d.head.Rev)
}

// render draws a card in the language of its request; a reply in direct messages in that of its reader.
func (d *drawing) render(a aggregate.Aggregate, c *aggregate.Card, now time.Time) card.Message {
	s := d.settings
	if t, is := a.(*task.Aggregate); is && reader(t) == "" {
		s.Locale = t.Language(s.Locale)
	}
	return card.Render(a, c, s, card.Around{Console: d.Console, StandIns: d.away}, now)
}

// settingsLast is how long settings are used without reading them again, where nobody is asked for a decision.
const settingsLast = time.Minute

// configure reads the settings, and the language of whoever alone sees the cards. A card that asks names who may decide
// under the settings as they are now, and whoever changes them asks for a redraw of such cards; other cards may show
// those of the last minute.
func (d *drawing) configure(ctx context.Context) (err error) {
	if _, asks := d.a.Asks(); asks || d.head.ShownRev == 0 {
		d.Handler.settings.Forget(d.ref.Tenant)
	}
	d.settings, err = d.Handler.settings.Ask(d.ref.Tenant, d.Now(), settingsLast, func() (tenancy.Settings, error) {
		return d.Store.Settings(ctx, d.ref.Tenant)
	})
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if user := reader(d.a); user != "" {
		d.settings.Locale = d.language(ctx, user)
	}
	return nil
}

// reader returns who wrote a direct message that became no task: only they see the answer. "": cards are for several
// people.
func reader(a aggregate.Aggregate) string {
	t, is := a.(*task.Aggregate)
	if !is || t.Request.ChannelType != "im" || t.Head.Ended == nil || t.Task != nil {
		return ""
	}
	return t.Request.User
}

// person returns whose message a card is, who alone sees it; "" if it is for several people.
func (d *drawing) person(c *aggregate.Card) string {
	if c.User == "" {
		return reader(d.a)
	}
	return c.User
}

// language returns the language that a person has chosen by now, for messages that only they see.
func (d *drawing) language(ctx context.Context, user string) string {
	return d.Handler.language(ctx, d.a.Origin().Team, user, d.settings.Locale)
}

// ours reports whether the deployment serves the workspace of the cards, as it does of what it accepted. Nothing is
// sent to any other workspace, and its cards count as shown.
func (d *drawing) ours(ctx context.Context) (bool, error) {
	t, is := d.a.(*task.Aggregate)
	if _, call := d.a.(*call.Aggregate); call || is && (t.Head.AcceptedAt != nil || t.Task != nil) {
		return true, nil
	}
	ours, err := slackapi.HomeWorkspace{Slack: d.Slack, Rows: d.Store}.Serves(ctx, d.ref.Tenant)
	if err == nil && !ours {
		slog.WarnContext(ctx, "not drawn: the workspace is none of ours", d.ref.Log())
		err = d.shown(ctx)
	}
	return ours, err
}
