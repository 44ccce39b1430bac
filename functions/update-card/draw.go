package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/metric"
	"ringi/shared/slack/card"
	"ringi/shared/slack/installed"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

type Store interface {
	Head(ctx context.Context, ref aggregate.Ref) (aggregate.Root, error)
	Load(ctx context.Context, ref aggregate.Ref) (aggregate.Aggregate, error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Shown(ctx context.Context, ref aggregate.Ref, h aggregate.Head) error
	Redraw(ctx context.Context, ref aggregate.Ref) error
	DrawAt(ctx context.Context, ref aggregate.Ref, at time.Time, due bool) error
	Integrations(ctx context.Context, tenant string) ([]tenancy.Integration, error)
}

// Rows records which message shows which card.
type Rows interface {
	ClaimCard(ctx context.Context, ref aggregate.Ref, key, by string, now, staleBefore time.Time) (aggregate.Card, error)
	PostedCard(ctx context.Context, ref aggregate.Ref, key, by, messageTS, channel, hash string, all *aggregate.Head) error
	ForgetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) error
	ShownCard(ctx context.Context, ref aggregate.Ref, key, messageTS, hash string, all *aggregate.Head) error
	ResetCard(ctx context.Context, ref aggregate.Ref, key, messageTS string) error
	ReleaseCard(ctx context.Context, ref aggregate.Ref, key, by string) error
	DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error
	AddCopies(ctx context.Context, ref aggregate.Ref, copies []*aggregate.Card) error
	UnreachableCard(
		ctx context.Context, ref aggregate.Ref, key, by, messageTS, refusal string, rev int, now time.Time,
	) error
}

// Kind draws the cards of one kind of aggregate.
type Kind interface {
	// Place is where the cards go; false when the rows don't say, because they are from two commits.
	Place(a aggregate.Aggregate) (Place, bool)
	Render(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, now time.Time) card.Message
	// Opened adds what is fetched only for a card that is drawn anew.
	Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error)
	Urgency(a aggregate.Aggregate, c *aggregate.Card) urgency
	// Suggestions are offered to a person beneath a card that was just posted; nil: none.
	Suggestions(a aggregate.Aggregate, locale string) []card.Suggestion
}

type Place struct {
	Team     string
	Thread   string
	Accepted bool // it is known that the deployment works for this workspace
}

type Slack interface {
	Team(ctx context.Context) (string, error)
	Post(ctx context.Context, channel, thread string, m card.Message, about slackapi.Metadata) (ts string, err error)
	Update(ctx context.Context, channel, ts string, m card.Message, about slackapi.Metadata) error
	Delete(ctx context.Context, channel, ts string) error
	StopStream(ctx context.Context, channel, ts string) error
	FindStreams(ctx context.Context, channel, thread string, since time.Time) ([]string, error)
	FindCards(ctx context.Context, channel, thread string, about slackapi.Metadata) ([]string, error)
	Direct(ctx context.Context, user, text string) error
	Suggest(ctx context.Context, channel string, suggestions []card.Suggestion) error
	SetAgentStatus(ctx context.Context, channel, thread string, status slackapi.AgentStatus, title string) error
	directory
}

// drawing shows the cards of one task as it was when it was loaded.
type drawing struct {
	*Handler
	ref      aggregate.Ref
	kind     Kind
	place    Place
	a        aggregate.Aggregate
	head     *aggregate.Head // of a
	settings tenancy.Settings
	by       string    // this invocation
	told     bool      // the requester knows that a card can't be shown
	last     bool      // the card that is being drawn is the last one to draw
	drew     bool      // something was posted or updated
	noted    bool      // a card's row says that all cards are shown
	reached  bool      // Slack may be called, as far as was known
	probes   bool      // it finds out whether Slack answers again
	silent   bool      // Slack did not answer it
	tried    time.Time // when the card that is being posted was claimed, or its post was sent

	urgency map[string]urgency // of each card
	short   map[string]short   // methods for which no call is left
}

// draw shows a task: each card whose content differs from what was shown is posted or updated, the most urgent first,
// posts in the order of the thread. If the task moves on meanwhile, the message of that move brings the rest. Cards
// that Slack's rate limits delay wait for their turn. Those that only show progress are left out: the task's next
// revision draws them, or the sweeper when it finds shown_rev behind.
func (h *Handler) draw(ctx context.Context, ref aggregate.Ref) error {
	d, known, err := h.load(ctx, ref)
	if err != nil {
		return err
	}
	if k, ok := d.kind.(withOutput); ok {
		if d.a, err = k.Live(ctx, d.a); err != nil {
			return err
		}
	}
	if !known {
		return errors.New("it is not known yet where the cards go") // a torn read
	}
	return d.ended(ctx, d.show(ctx), func(s silence) error { return d.leave(ctx, s) })
}

// ended returns how a drawing ended; left answers for one that Slack's silence kept from being drawn.
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
	ours, err := d.prepared(ctx)
	if err != nil {
		return err
	}
	if !ours {
		slog.WarnContext(ctx, "not drawn: the workspace is none of ours", d.ref.Log())
		return d.shown(ctx)
	}
	d.told = slices.ContainsFunc(d.a.Common().Cards, func(c *aggregate.Card) bool { return c.Refusal != "" })
	if err := d.leftover(ctx); err != nil {
		return err
	}
	behind, err := d.cards(ctx)
	if err == nil {
		d.status(ctx)
	}
	if d.drew {
		d.homes(ctx, d.ref.Tenant)
	}
	if err == nil {
		err = d.askForCopies(ctx)
	}
	if err != nil || behind || d.noted {
		return err
	}
	return d.shown(ctx)
}

// prepared reports whether the deployment works for the workspace of the cards, and reads its settings.
func (d *drawing) prepared(ctx context.Context) (ours bool, err error) {
	if !d.place.Accepted { // Slack may have to be asked
		if err := d.reach(ctx); err != nil {
			return false, err
		}
	}
	if ours, err := d.ours(ctx); err != nil || !ours {
		return false, err
	}
	if d.settings, err = d.Store.Settings(ctx, d.ref.Tenant); err != nil {
		return false, fmt.Errorf("read the settings: %w", err)
	}
	return true, nil
}

// load begins to draw an aggregate, and reports whether it is known where its cards go. The head under which the
// aggregate will be noted as shown is from before the rows were read, since a query may return a head that is newer than
// the rows. A later commit brings a message of its own.
func (h *Handler) load(ctx context.Context, ref aggregate.Ref) (d *drawing, known bool, err error) {
	d = &drawing{Handler: h, ref: ref, kind: h.Kinds[ref.Kind], by: h.NewID(), short: map[string]short{}}
	before, err := h.Store.Head(ctx, ref)
	if err == nil {
		d.a, err = h.Store.Load(ctx, ref)
	}
	if err != nil {
		return nil, false, fmt.Errorf("load %s: %w", ref.Kind, err)
	}
	head := *d.a.Root().Common()
	head.Rev, head.Redraws = min(head.Rev, before.Common().Rev), min(head.Redraws, before.Common().Redraws)
	d.head = &head
	d.place, known = d.kind.Place(d.a)
	return d, known, nil
}

// ours reports whether the deployment serves the workspace of the cards; nothing is sent to any other. It serves that
// of every accepted task.
func (d *drawing) ours(ctx context.Context) (bool, error) {
	if d.place.Accepted {
		return true, nil
	}
	ours, err := installed.Home{Slack: d.Slack, Rows: d.Store}.Knows(ctx, d.ref.Tenant)
	if refused := (slackapi.Refused{}); errors.As(err, &refused) && refused.App {
		metric.Count(metric.AppRefused, 1)
		slog.ErrorContext(ctx, "Slack refuses the app", d.ref.Log(), "err", err)
	}
	return ours, err
}

// shown notes that Slack shows the task as of head.
func (d *drawing) shown(ctx context.Context) error {
	if d.head.ShownRev >= d.head.Rev && d.head.DrawAt == nil {
		return nil
	}
	if err := d.Store.Shown(ctx, d.ref, *d.head); err != nil {
		return fmt.Errorf("note what is shown: %w", err)
	}
	return nil
}

// cards draws those of the task's cards that show something else. The rows alone tell: large arguments never change,
// and are fetched only for a card that is drawn anew. It reports whether some were left out.
func (d *drawing) cards(ctx context.Context) (left bool, err error) {
	rows := d.inOrder()
	var behind error
	var over leftover
	now := d.Now()
	hashes := map[string]string{}
	rows = slices.DeleteFunc(rows, func(c *aggregate.Card) bool {
		hashes[c.Key()] = card.Hash(d.kind.Render(d.a, c, d.settings, now))
		return c.State == aggregate.CardPosted && c.Hash == hashes[c.Key()] || d.rests(c)
	})
	if len(rows) > 0 {
		if err := d.reach(ctx); err != nil {
			return true, err
		}
	}
	for i, c := range rows {
		d.last = i == len(rows)-1 && behind == nil && over == leftover{}
		err := d.card(ctx, c, hashes[c.Key()])
		if err != nil {
			err = fmt.Errorf("card %s: %w", c.Key(), err)
		}
		var unknown slackapi.Unknown
		switch {
		case over.add(err, d.urgency[c.Key()]):
		case errors.As(err, &unknown): // an update is done again later; the other cards need not wait for it
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

// card makes one message show its card, of which hash is the fingerprint.
func (d *drawing) card(ctx context.Context, c *aggregate.Card, hash string) error {
	opened, err := d.kind.Opened(ctx, d.a, c)
	if err != nil {
		return err
	}
	return d.send(ctx, c, d.kind.Render(opened, c, d.settings, d.Now()), hash)
}

// send updates a card's message, or posts it.
func (d *drawing) send(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if c.MessageTS != "" {
		return d.update(ctx, c, m, hash)
	}
	return d.post(ctx, c, m, hash)
}

// all is the head that is noted as shown together with the card that is being drawn. It is nil if other cards are left
// to draw, or if the head has a draw_at, which only Shown removes.
func (d *drawing) all() *aggregate.Head {
	if d.last && d.head.DrawAt == nil {
		return d.head
	}
	return nil
}

// rests reports whether a card that Slack refused is left as it is. It is tried again at the next revision, at the
// time that TryAgainAt says, or when shown_rev was removed because a person clicked on an outdated card.
func (d *drawing) rests(c *aggregate.Card) bool {
	again := d.a.TryAgainAt(c)
	return c.State == aggregate.CardUnreachable && c.TriedRev >= d.head.Rev && d.head.ShownRev != 0 &&
		(again == nil || d.Now().Before(*again))
}

// update replaces what a message shows. A message that is gone, or can't be changed any more, is posted anew.
func (d *drawing) update(ctx context.Context, c *aggregate.Card, m card.Message, hash string) error {
	if err := d.take(ctx, c, methodUpdate); err != nil {
		return err
	}
	if c.Hash != "" {
		if err := d.Rows.ForgetCard(ctx, d.ref, c.Key(), c.MessageTS); err != nil {
			return fmt.Errorf("forget: %w", err)
		}
	}
	err := d.replace(ctx, c, m)
	switch slackapi.Code(err) {
	case slackapi.CodeBlockMismatch:
		if err := d.Slack.Delete(ctx, c.Channel, c.MessageTS); err != nil {
			return fmt.Errorf("delete what can't be replaced: %w", err)
		}
		fallthrough
	case slackapi.CodeMessageNotFound, slackapi.CodeCantUpdate, slackapi.CodeEditWindow:
		d.log(c).WarnContext(ctx, "posts anew", "ts", c.MessageTS, "err", err)
		if err := d.Rows.ResetCard(ctx, d.ref, c.Key(), c.MessageTS); err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		fresh := *c
		fresh.State, fresh.MessageTS, fresh.Hash = aggregate.CardNone, "", ""
		return d.post(ctx, &fresh, m, hash)
	}
	if err != nil {
		return d.failed(ctx, c, err)
	}
	d.drew = true
	d.log(c).InfoContext(ctx, "updated", "ts", c.MessageTS)
	if err := d.Rows.ShownCard(ctx, d.ref, c.Key(), c.MessageTS, hash, d.all()); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	d.noted = d.all() != nil
	return nil
}

// failed decides what a call's failure means. A permanent refusal of this channel or message is noted and told, and the
// other cards are drawn; any other failure ends this try. A refusal of the app as a whole is not noted on the card: an
// alarm is raised, and the message is tried again until the token is valid.
func (d *drawing) failed(ctx context.Context, c *aggregate.Card, err error) error {
	var refused slackapi.Refused
	if errors.As(err, &refused) && refused.App {
		metric.Count(metric.AppRefused, 1)
		d.log(c).ErrorContext(ctx, "Slack refuses the app", "err", err)
	}
	if !refused.Permanent {
		return err
	}
	if c.User == "" { // a person who left, or takes no messages, is no failure
		metric.Count(metric.CardUnreachable, 1)
		d.log(c).ErrorContext(ctx, "unreachable", "err", err)
	}
	err = d.Rows.UnreachableCard(ctx, d.ref, c.Key(), d.by, c.MessageTS, refused.Code, d.head.Rev, d.Now())
	switch {
	case isOther(err):
		return later{0, "another invocation was faster"}
	case err != nil:
		return fmt.Errorf("mark as unreachable: %w", err)
	}
	if d.told {
		return nil
	}
	d.told = true
	if err := d.Slack.Direct(ctx, d.head.Requester,
		card.Unreachable(d.settings.Locale, c.Channel, refused.Code)); err != nil {
		d.log(c).WarnContext(ctx, "the requester was not told", "err", err)
	}
	return nil
}

func (d *drawing) about(c *aggregate.Card) slackapi.Metadata {
	return slackapi.Metadata{Task: d.ref.ID, Card: c.Key()}
}

func (d *drawing) log(c *aggregate.Card) *slog.Logger {
	return slog.With(d.ref.Log(), "card", c.Key(), "rev", d.head.Rev)
}

// isOther reports whether another invocation has claimed the row.
func isOther(err error) bool { return errors.Is(err, store.ErrClaimed) }
