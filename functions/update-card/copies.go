package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// mostCopies is how many approvers get a copy of a gate's card; the card counts the others.
const mostCopies = 20

// withCopies is a kind that people decide on. Approvers get copies of its cards in direct messages.
type withCopies interface {
	// Outcome returns the copy that tells the requester how it ended, or nil if none is due.
	Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card
	// Decided returns the keys of the gates of whose decisions a channel or group is told, if their rules say so.
	Decided(a aggregate.Aggregate) []string
	// Copy draws a copy. It returns false if the copy stays unchanged.
	Copy(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) (m card.Message,
		ok bool)
}

var _ = []withCopies{taskCards{}, conversationCards{}, callCards{}}

// copied reports whether copies are missing or differ from their cards, as far as the rows say.
func (d *drawing) copied(ctx context.Context) bool {
	k, ok := d.kind.(withCopies)
	if !ok {
		return false
	}
	if _, waits := d.toCopy(); waits || len(d.tells(k)) > 0 || k.Outcome(d.a, d.Now()) != nil {
		return true
	}
	return slices.ContainsFunc(d.a.Common().Copies, func(c *aggregate.Card) bool {
		if _, moved := d.owedAnew(c); moved {
			return true
		}
		_, stale := d.stale(ctx, k, c)
		return stale
	})
}

// stale returns the hash of a copy's present content, and reports whether the copy shows something else. The copy of a
// person who can't be written to is never stale, nor is one without a message.
func (d *drawing) stale(ctx context.Context, k withCopies, c *aggregate.Card) (hash string, stale bool) {
	if c.State == aggregate.CardUnreachable || c.State == aggregate.CardUnsent || d.rests(c) {
		return "", false
	}
	m, ok := d.copy(ctx, k, d.a, c)
	hash = card.Hash(m)
	return hash, ok && (c.State != aggregate.CardPosted || c.Hash != hash)
}

func (d *drawing) copy(
	ctx context.Context, k withCopies, a aggregate.Aggregate, c *aggregate.Card,
) (card.Message, bool) {
	of := a.(decide.Subject)
	at, thread := of.Beginning()
	at = cmp.Or(at, thread)
	cards := a.Common().Cards
	if i := slices.IndexFunc(cards,
		func(x *aggregate.Card) bool { return x.Subject == c.About() && x.MessageTS != "" }); i >= 0 {
		at = cards[i].MessageTS
	}
	link, from := "", of.Origin()
	if from.ChannelType != "im" { // nobody else can open the card in direct messages
		link = d.Slack.Link(ctx, from.Channel, at, thread)
	}
	set := d.settings
	if c.CardType == task.CardOutcome { // no card, but a message to one person
		set.Locale = d.who.Language(ctx, d.Slack, d.place.Team, c.User, set.Locale, d.Now())
	}
	return k.Copy(a, d.standsNow(c), set, link, d.Now())
}

// toCopy returns the open gate for which approvers should get copies and nobody has one yet, or which is under a rule
// and asks somebody who has none.
func (d *drawing) toCopy() (aggregate.Question, bool) {
	q, waits := d.a.(decide.Subject).Asks()
	if r, ok := d.onRoute(q.Key); ok {
		return q, waits && len(d.unlisted(q, r)) > 0
	}
	s := d.settings
	listed := s.Approvers.Mode == aggregate.ApproversList && len(s.Approvers.Users)+len(s.Approvers.Usergroups) > 0
	return q, waits && listed && len(d.a.Common().CopiesOf(q.Key)) == 0
}

// copies sends the copies of the waiting gate's card, and updates earlier copies. If one person can't be written to,
// the others still get theirs.
func (h *Handler) copies(ctx context.Context, ref aggregate.Ref, asked aggregate.Head) error {
	d, known, err := h.load(ctx, ref, asked)
	if err != nil {
		return err
	}
	k, ok := d.kind.(withCopies)
	if !known || !ok {
		return nil
	}
	d.receipt = &receipt{doubts: true} // copies are saved with two writes
	d.urgency = map[string]urgency{}
	return d.ended(ctx, d.showCopies(ctx, k), func(s silence) error {
		return later{s.again(h.Now()).Sub(h.Now()), slacksPace}
	})
}

func (d *drawing) showCopies(ctx context.Context, k withCopies) error {
	if err := d.reach(ctx); err != nil {
		return err
	}
	if ours, err := d.prepared(ctx); err != nil || !ours {
		return err
	}
	if _, err := d.Slack.Team(ctx); err != nil { // without it each drawing would lack links
		return err
	}
	if err := d.listOwed(ctx); err != nil {
		return err
	}
	if err := d.makeCopies(ctx, k); err != nil {
		return err
	}
	return d.drawCopies(ctx, k)
}

func (d *drawing) drawCopies(ctx context.Context, k withCopies) (err error) {
	var failed []error
	defer func() {
		if d.vacant {
			err = errors.Join(err, d.Store.Redraw(ctx, d.ref))
		}
	}()
	for _, c := range d.a.Common().Copies {
		hash, stale := d.stale(ctx, k, c)
		if !stale {
			continue
		}
		if err := d.drawCopy(ctx, k, c, hash); err != nil {
			failed = append(failed, fmt.Errorf("copy %s: %w", c.Key(), err))
		}
	}
	var s short
	if err := errors.Join(failed...); errors.As(err, &s) {
		return later{min(s.Until.Sub(d.Now()), mostShort), slacksPace}
	}
	return errors.Join(failed...)
}

func (d *drawing) drawCopy(ctx context.Context, k withCopies, c *aggregate.Card, hash string) error {
	d.urgency[c.Key()] = settled // the cards in the thread come first
	opened, err := d.kind.Opened(ctx, d.a, c)
	if err != nil {
		return err
	}
	m, _ := d.copy(ctx, k, opened, c)
	return d.send(ctx, c, m, hash)
}

// makeCopies creates the rows of the missing copies of a gate without a rule and of messages about ends and decisions
// in one transaction, and adds them to the drawing. Those along a route listOwed has made.
func (d *drawing) makeCopies(ctx context.Context, k withCopies) error {
	var rows []*aggregate.Card
	q, waits := d.toCopy()
	if _, ok := d.onRoute(q.Key); waits && !ok {
		users, err := d.approvers(ctx, q)
		if err != nil {
			return fmt.Errorf("who gets a copy: %w", err)
		}
		for _, user := range users[:min(len(users), mostCopies)] {
			rows = append(rows, &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: user,
				Others: max(0, len(users)-mostCopies)})
		}
	}
	for c := k.Outcome(d.a, d.Now()); c != nil; c = k.Outcome(d.a, d.Now()) {
		rows = append(rows, c)
		d.a.Add(c)
	}
	if rows = append(rows, d.tells(k)...); len(rows) == 0 {
		return nil
	}
	for _, c := range rows {
		d.begin(c)
	}
	if err := d.Rows.AddCopies(ctx, d.ref, rows); err != nil {
		return fmt.Errorf("make copies: %w", err)
	}
	for _, c := range rows {
		d.a.Add(c)
	}
	if rows[0].Others > 0 { // then the card must show how many got none
		return d.Store.Redraw(ctx, d.ref)
	}
	return nil
}

// begin fills in the row of a new copy.
func (d *drawing) begin(c *aggregate.Card) {
	c.Rev, c.State, c.AggregateID, c.ID, c.CreatedAt = d.head.Rev, aggregate.CardNone, d.ref.ID, d.NewID(),
		d.Now().UTC().Truncate(time.Millisecond)
}

// approvers returns the listed people who may approve a gate, by the same rule as a click, in the list's order. It
// omits a requester who asked in direct messages: they have the card there.
func (d *drawing) approvers(ctx context.Context, q aggregate.Question) ([]string, error) {
	all := slices.Clone(d.settings.Approvers.Users)
	for _, group := range d.settings.Approvers.Usergroups {
		members, err := d.Slack.UsergroupMembers(ctx, group)
		switch slackapi.Code(err) {
		case slackapi.CodeUnknownMethod:
		case slackapi.CodeNoSuchGroup: // other listed people still get their copies
			slog.WarnContext(ctx, "a listed user group is gone", "group", group)
		default:
			if err != nil {
				return nil, err
			}
		}
		all = append(all, members...)
	}
	var out []string
	of := d.a.(decide.Subject)
	origin := of.Origin()
	policy := d.settings.Policy(origin.Team)
	policy.Approvers = all
	for _, user := range all {
		if slices.Contains(out, user) || user == origin.User && origin.ChannelType == "im" {
			continue
		}
		if len(out) >= mostCopies { // the others are only counted
			out = append(out, user)
			continue
		}
		by, err := d.who.Requester(ctx, d.Slack, origin.Team, user, d.Now())
		if err != nil {
			return nil, err
		}
		if decide.Approves(of, q.ID, by, policy, d.Now()) {
			out = append(out, user)
		}
	}
	return out, nil
}

func (d *drawing) askForCopies(ctx context.Context) error {
	if !d.copied(ctx) {
		return nil
	}
	if _, err := d.Queue.SendMessage(ctx, effect.Copies(d.QueueURL, d.ref, d.head.Rev, d.head.Redraws,
		d.receipt.asked.Hops+1)); err != nil {
		return fmt.Errorf("ask for copies: %w", err)
	}
	slog.InfoContext(ctx, "asks for copies", d.ref.Log(), "rev", d.head.Rev)
	return nil
}

// directory has the calls that copies need.
type directory interface {
	people.Users
	UsergroupMembers(ctx context.Context, group string) ([]string, error)
	OpenDM(ctx context.Context, user string) (channel string, err error)
	Link(ctx context.Context, channel, ts, thread string) string
}
