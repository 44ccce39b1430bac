package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

type Store interface {
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	DelegationsOf(ctx context.Context, tenant, principal string) ([]tenancy.Delegation, error)
	Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error
	Redraw(ctx context.Context, ref aggregate.Ref) error
	DrawAt(ctx context.Context, ref aggregate.Ref, at time.Time, due bool) error
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
}

// Rows saves which message shows which card.
type Rows interface {
	ClaimCard(ctx context.Context, ref aggregate.Ref, key, by string, now, staleBefore time.Time) (aggregate.Card, error)
	PostedCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head) error
	ForgetCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by string) error
	DoubtCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by string) error
	ShownCard(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, by, hash string, all *aggregate.Head) error
	ResetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) (aggregate.Card, error)
	ReleaseCard(ctx context.Context, ref aggregate.Ref, key, by string) error
	AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error
	OwedCopy(ctx context.Context, ref aggregate.Ref, c *aggregate.Card, since *time.Time, rev int) error
	UnreachableCard(
		ctx context.Context, ref aggregate.Ref, key, by, messageTS, refusal string, rev int, now time.Time,
	) error
}

// Kind draws the cards of one kind of aggregate.
type Kind interface {
	// Place returns where the cards belong. It returns false for a torn read, whose rows come from two commits.
	Place(a aggregate.Aggregate) (Place, bool)
	// Render draws a card; away are those who stand in for whom it asks.
	Render(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, away []circulation.StandIn,
		now time.Time) card.Message
	// Opened reads contents that are needed only for a card whose message changes.
	Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error)
	Urgency(a aggregate.Aggregate, c *aggregate.Card) urgency
	// Suggestions are requests that are offered to a person below a new card; nil: none.
	Suggestions(a aggregate.Aggregate, locale string) []card.Suggestion
}

type Place struct {
	Team     string
	Thread   string
	Accepted bool // the deployment is known to serve this workspace
}

type Slack interface {
	Team(ctx context.Context) (string, error)
	Post(ctx context.Context, channel, thread string, m card.Message, about slackapi.Metadata) (ts string, err error)
	Update(ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata) error
	Delete(ctx context.Context, channel, ts string) error
	FindCards(ctx context.Context, channel, thread string, about slackapi.Metadata) ([]string, error)
	Direct(ctx context.Context, user, text string) error
	Suggest(ctx context.Context, channel string, suggestions []card.Suggestion) error
	SetAgentStatus(ctx context.Context, channel, thread string, status slackapi.AgentStatus, title string) error
	SetWaiting(ctx context.Context, channel, thread, text string) error
	directory
}

// drawing shows the cards of one task in the state in which it was loaded.
type drawing struct {
	*Handler
	ref      aggregate.Ref
	kind     Kind
	place    Place
	a        aggregate.Aggregate
	head     *aggregate.Head // of a
	settings tenancy.Settings
	away     []circulation.StandIn // for those whose turn it is
	by       string                // id of this invocation
	told     bool                  // the requester already knows that a card can't be shown
	last     bool                  // the current card is the last one to draw
	noted    bool                  // a card's row already records that all cards are shown
	reached  bool                  // this drawing has already checked that Slack may be called
	probes   bool                  // this drawing tries whether Slack answers again
	silent   bool                  // Slack did not answer this drawing
	vacant   bool                  // a copy can't be sent: the card may have to say that it waits for who has left
	tried    time.Time             // when the current card was claimed, or its post was sent

	fresh   people.Requesters  // caches people for this drawing
	urgency map[string]urgency // of each card
	blocked map[string]short   // methods for which Slack's rate limit leaves no call
	paid    map[string]string  // by card: the method for which a call was taken
	receipt *receipt
}

// draw posts or updates each card whose content has changed, the most urgent first, and posts in the order of the
// thread. If the task changes meanwhile, another message asks for the rest. Cards that Slack's rate limits delay wait
// for their turn. Cards that only show progress are skipped then: the task's next revision draws them, or the sweeper,
// which finds that shown_rev is behind.
func (h *Handler) draw(ctx context.Context, ref aggregate.Ref, asked aggregate.Head, r *receipt) error {
	d, known, err := h.load(ctx, ref, asked)
	if err != nil {
		return err
	}
	d.receipt = r
	if k, ok := d.kind.(withOutput); ok {
		if d.a, err = k.Live(ctx, d.a); err != nil {
			return err
		}
	}
	if !known {
		if s, ok := d.a.(decide.Subject); ok && errors.Is(s.Readable(h.Now()), aggregate.ErrNotFound) {
			return fmt.Errorf("only its head is left: %w", aggregate.ErrNotFound)
		}
		return errors.New("it is not known yet where the cards go") // a torn read
	}
	return d.ended(ctx, d.show(ctx), func(s silence) error { return d.leave(ctx, s) })
}

// ended returns the result of a drawing. If Slack did not answer, left decides.
func (d *drawing) ended(ctx context.Context, err error, left func(silence) error) error {
	var s silence
	if errors.As(err, &s) {
		return left(s)
	}
	if slackapi.Silent(err) {
		d.heard(ctx, err)
	}
	return err
}

func (d *drawing) show(ctx context.Context) error {
	if err := d.doubt(ctx, d.a.Common().Cards); err != nil {
		return err
	}
	ours, err := d.prepared(ctx)
	if err != nil {
		return err
	}
	if !ours {
		slog.WarnContext(ctx, "not drawn: the workspace is none of ours", d.ref.Log())
		return d.shown(ctx)
	}
	if k, ok := d.kind.(withReminders); ok && k.Outdated(d.a, d.settings, d.Now()) {
		slog.InfoContext(ctx, "nobody is reminded any more", d.ref.Log())
		return d.shown(ctx)
	}
	if err := d.listOwed(ctx); err != nil {
		return err
	}
	d.told = slices.ContainsFunc(d.a.Common().Cards, func(c *aggregate.Card) bool { return c.Refusal != "" })
	behind, err := d.cards(ctx)
	if err == nil {
		d.status(ctx)
	}
	if err == nil {
		err = d.askForCopies(ctx)
	}
	if err != nil || behind || d.noted {
		return err
	}
	return d.shown(ctx)
}

// load begins the drawing of an aggregate, and reports whether the place of its cards is known. A query may return a
// head that is newer than the rows, and that head must not be recorded as shown: only one that was there before the
// query, which the message names. A later commit sends its own message.
func (h *Handler) load(ctx context.Context, ref aggregate.Ref, before aggregate.Head) (
	d *drawing, known bool, err error,
) {
	d = &drawing{Handler: h, ref: ref, kind: h.Kinds[ref.Kind], by: h.NewID(), blocked: map[string]short{},
		paid: map[string]string{}}
	if d.a, err = h.Store.Load(ctx, ref); err != nil {
		return nil, false, fmt.Errorf("load %s: %w", ref.Kind, err)
	}
	head := *d.a.Root().Common()
	head.Rev, head.Redraws = min(head.Rev, before.Rev), min(head.Redraws, before.Redraws)
	d.head = &head
	d.place, known = d.kind.Place(d.a)
	return d, known, nil
}

// shown records that Slack shows the task at head, unless nothing would follow from that.
func (d *drawing) shown(ctx context.Context) error {
	if d.head.DrawAt == nil && (d.head.ShownRev >= d.head.Rev || !d.a.Effects(d.Now()).Cards) {
		return nil
	}
	if err := d.Store.Shown(ctx, d.ref, *d.head); err != nil {
		return fmt.Errorf("note what is shown: %w", err)
	}
	return nil
}

// cards draws those of the task's cards whose content has changed, as far as the rows tell: large arguments never
// change, and are read only for a card that is drawn. left reports whether some cards were skipped.
func (d *drawing) cards(ctx context.Context) (left bool, err error) {
	rows := d.inOrder()
	var behind error
	var over leftover
	now := d.Now()
	hashes := map[string]string{}
	rows = slices.DeleteFunc(rows, func(c *aggregate.Card) bool {
		hashes[c.Key()] = card.Hash(d.kind.Render(d.a, c, d.settings, d.away, now))
		return c.State == aggregate.CardPosted && c.Hash == hashes[c.Key()] || d.rests(c)
	})
	if len(rows) > 0 {
		if err := d.reach(ctx); err != nil {
			return true, err
		}
	}
	d.prepay(ctx, rows)
	for i, c := range rows {
		d.last = i == len(rows)-1 && behind == nil && over == leftover{}
		open := d.receipt.open
		err := d.card(ctx, c, hashes[c.Key()])
		d.receipt.open = d.receipt.open || open // saving one card ends no doubt about another
		if err != nil {
			err = fmt.Errorf("card %s: %w", c.Key(), err)
		}
		var unknown slackapi.Unknown
		switch {
		case over.add(err, d.urgency[c.Key()]):
		case errors.As(err, &unknown): // an update is repeated later; the other cards need not wait for it
			behind = err
		case err != nil:
			return true, err
		}
	}
	if over.skipped > 0 {
		slog.InfoContext(ctx, "left progress out", d.ref.Log(), "rev", d.head.Rev, "cards", over.skipped)
	}
	if behind == nil && over.first != nil {
		return true, d.wait(ctx, *over.first)
	}
	return over.skipped > 0, behind
}

// card makes a message show its card. hash is that of the card's new content.
func (d *drawing) card(ctx context.Context, c *aggregate.Card, hash string) error {
	opened, err := d.kind.Opened(ctx, d.a, c)
	if err != nil {
		return err
	}
	return d.send(ctx, c, d.kind.Render(opened, c, d.settings, d.away, d.Now()), hash)
}

// send updates a card's message, or posts it.
func (d *drawing) send(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if c.MessageTS != "" {
		return d.update(ctx, c, m, hash)
	}
	return d.post(ctx, c, m, hash)
}

// all returns the head to record as shown in the same write as the current card. It is nil if other cards are left to
// draw, or if the head has a draw_at, which only Shown removes.
func (d *drawing) all() *aggregate.Head {
	if d.last && d.head.DrawAt == nil {
		return d.head
	}
	return nil
}

// rests reports whether a card that Slack refused is left alone. It is tried again at the next revision, at the time
// from TryAgainAt, or after a click on an outdated card has removed shown_rev.
func (d *drawing) rests(c *aggregate.Card) bool {
	again := d.a.TryAgainAt(c)
	return c.State == aggregate.CardUnreachable && c.TriedRev >= d.head.Rev && d.head.ShownRev != 0 &&
		(again == nil || d.Now().Before(*again))
}

// thread returns where a card is posted. A copy begins a thread of its own.
func (d *drawing) thread(c *aggregate.Card) string {
	if c.User != "" && !c.TellsGroup() {
		return ""
	}
	return d.place.Thread
}

func (d *drawing) about(c *aggregate.Card) slackapi.Metadata {
	return slackapi.Metadata{Task: d.ref.ID, Card: c.Key()}
}

func (d *drawing) log(c *aggregate.Card) *slog.Logger {
	return slog.With(d.ref.Log(), "card", c.Key(), "rev", d.head.Rev)
}

// prepared reports whether the deployment serves the workspace of the cards, and reads its settings.
func (d *drawing) prepared(ctx context.Context) (ours bool, err error) {
	if !d.place.Accepted { // Slack may have to be asked
		if err := d.reach(ctx); err != nil {
			return false, err
		}
	}
	if ours, err := d.ours(ctx); err != nil || !ours {
		return false, err
	}
	if err = d.configure(ctx); err != nil {
		return false, fmt.Errorf("read the settings: %w", err)
	}
	if k, ok := d.kind.(withReader); ok && k.Reader(d.a) != "" {
		d.settings.Locale = d.language(ctx, k.Reader(d.a))
	}
	return true, nil
}

// settingsLast is how long settings are used without reading them again, where nobody is asked for a decision.
const settingsLast = time.Minute

// configure reads the settings. A card that asks names who may decide under the settings as they are now, and whoever
// changes them asks for a redraw of such cards; other cards may show those of the last minute.
func (d *drawing) configure(ctx context.Context) (err error) {
	now, read := d.Now(), func() (tenancy.Settings, error) { return d.Store.Settings(ctx, d.ref.Tenant) }
	asks := true
	if s, ok := d.a.(decide.Subject); ok {
		_, asks = s.Asks()
	}
	if asks || d.head.ShownRev == 0 {
		if d.settings, err = read(); err == nil {
			d.Handler.settings.Keep(d.ref.Tenant, d.settings, now, settingsLast)
		}
		return err
	}
	d.settings, err = d.Handler.settings.Ask(d.ref.Tenant, now, settingsLast, read)
	return err
}

// withReader is a kind some of whose messages only one person sees. They are in that person's language.
type withReader interface {
	Reader(a aggregate.Aggregate) (user string) // "": cards are for several people
}

// withReminders is a kind some of whose messages are posted in time or not at all.
type withReminders interface {
	Outdated(a aggregate.Aggregate, s tenancy.Settings, now time.Time) bool
}

// person returns whose message a card is, who alone sees it; "" if it is for several people.
func (d *drawing) person(c *aggregate.Card) string {
	if k, ok := d.kind.(withReader); ok && c.User == "" {
		return k.Reader(d.a)
	}
	return c.User
}

// language returns the language that a person has chosen by now, for messages that only they see. A drawing asks once.
func (d *drawing) language(ctx context.Context, user string) string {
	return d.fresh.Language(ctx, d.Slack, d.place.Team, user, d.settings.Locale, d.Now())
}

// ours reports whether the deployment serves the workspace of the cards, as it does for every accepted task. Nothing is
// sent to any other workspace.
func (d *drawing) ours(ctx context.Context) (bool, error) {
	if d.place.Accepted {
		return true, nil
	}
	ours, err := slackapi.HomeWorkspace{Slack: d.Slack, Rows: d.Store}.Serves(ctx, d.ref.Tenant)
	if refused := (slackapi.Refused{}); errors.As(err, &refused) && refused.App {
		boot.Count(boot.AppRefused, 1)
		slog.ErrorContext(ctx, "Slack refuses the app", d.ref.Log(), "err", err)
	}
	return ours, err
}
