package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/effect"
	"ringi/shared/people"
	"ringi/shared/slackapi"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// mostCopies is how many people get a gate's card directly; the others are counted on the card.
const mostCopies = 20

// copied reports whether the copies of a task's cards need drawing, as far as its rows say: some are missing, or show
// something else than the cards do.
func (d *drawing) copied(ctx context.Context) bool {
	t, ok := d.a.(*task.Aggregate)
	if !ok || !d.place.Accepted || t.Request == nil {
		return false
	}
	if _, waits := toCopy(t, d.settings); waits || outcomeDue(t, d.Now()) {
		return true
	}
	return slices.ContainsFunc(t.Copies, func(c *aggregate.Card) bool {
		_, stale := d.stale(ctx, t, c)
		return stale
	})
}

// stale is what a copy ought to show, and reports whether it shows something else. Where a person can't be written to,
// nothing does.
func (d *drawing) stale(ctx context.Context, t *task.Aggregate, c *aggregate.Card) (m card.Message, stale bool) {
	if c.State == aggregate.CardUnreachable || c.CardType == task.CardOutcome && t.Head.Ended == nil {
		return m, false // how a task ended stays said until it ends again
	}
	m = d.copy(ctx, t, c)
	return m, c.State != aggregate.CardPosted || c.Hash != card.Hash(m)
}

func (d *drawing) copy(ctx context.Context, t *task.Aggregate, c *aggregate.Card) card.Message {
	r := t.Request
	at := cmp.Or(r.MessageTS, r.ThreadTS)
	if i := slices.IndexFunc(t.Cards, func(x *aggregate.Card) bool { return x.Subject == c.Subject && x.MessageTS != "" }); i >= 0 {
		at = t.Cards[i].MessageTS
	}
	return card.Copy(t, c, d.settings, d.Slack.Link(ctx, r.Channel, at, r.ThreadTS), d.Now())
}

// toCopy is the gate whose card approvers are to get, and that none got yet.
func toCopy(t *task.Aggregate, s tenancy.Settings) (task.OpenGate, bool) {
	open, waits := t.OpenGate()
	listed := s.ApprovalCopies != tenancy.CopiesNone && s.Approvers.Mode == aggregate.ApproversList && len(s.Approvers.Users)+len(s.Approvers.Usergroups) > 0
	return open, waits && open.Terms.ApprovalRequired && t.Choosing() == nil && listed && len(t.CopiesOf(open.Key)) == 0
}

// outcomeDue reports whether the requester is still to be told how the task ended: not in the thread that is theirs alone
// anyway, and not of what they ended themselves.
func outcomeDue(t *task.Aggregate, now time.Time) bool {
	e := t.Head.Ended
	return e != nil && now.Sub(e.At) < outcomeWithin && t.Task != nil && e.By != t.Head.Requester && t.Request.ChannelType != "im" && t.Head.Requester != "" && len(t.CopiesOf(outcome)) == 0
}

// outcomeWithin is how long after a task's end its requester is told: one that an earlier release ended, and that is drawn
// again, is no news.
const outcomeWithin = 24 * time.Hour

// outcome is the subject of the message that says how a task ended.
const outcome = "OUTCOME"

// copies draws the copies of a task's cards: those of what waits now are made, those that were made before follow their
// cards. One person who can't be written to hinders none of the others.
func (h *Handler) copies(ctx context.Context, ref aggregate.Ref) error {
	ctx = slackapi.For(ctx, ref.Tenant)
	a, head, err := h.load(ctx, ref)
	if err != nil {
		return fmt.Errorf("load %s: %w", ref.Kind, err)
	}
	kind := h.Kinds[ref.Kind]
	place, known := kind.Place(a)
	t, ok := a.(*task.Aggregate)
	if !known || !ok || !place.Accepted {
		return nil
	}
	settings, err := h.Store.Settings(ctx, ref.Tenant)
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if _, err := h.Slack.Team(ctx); err != nil { // without it no link is known, and copies would change to and fro
		return err
	}
	place.Thread = ""
	d := &drawing{
		Handler: h, ref: ref, kind: kind, place: place, a: a, head: head, settings: settings, by: h.NewID(), told: true,
		urgency: map[string]urgency{}, short: map[string]short{},
	}
	if err := d.makeCopies(ctx, t); err != nil {
		return err
	}
	return d.drawCopies(ctx, t)
}

func (d *drawing) drawCopies(ctx context.Context, t *task.Aggregate) error {
	var failed []error
	for _, c := range t.Copies {
		m, stale := d.stale(ctx, t, c)
		if !stale {
			continue
		}
		d.urgency[c.Key()] = settled // the thread's come first
		hash, draw := card.Hash(m), d.post
		if opened, err := d.kind.Opened(ctx, d.a, c); err != nil {
			failed = append(failed, err)
			continue
		} else if opened != d.a {
			m = d.copy(ctx, opened.(*task.Aggregate), c)
		}
		if c.MessageTS != "" {
			draw = d.update
		}
		if err := draw(ctx, c, m, hash); err != nil {
			failed = append(failed, fmt.Errorf("copy %s: %w", c.Key(), err))
		}
	}
	var s short
	if err := errors.Join(failed...); errors.As(err, &s) {
		return later{min(s.until.Sub(d.Now()), mostShort), slacksPace}
	}
	return errors.Join(failed...)
}

// makeCopies makes the rows of those copies that are missing, all of a gate's at once, and adds them to the task.
func (d *drawing) makeCopies(ctx context.Context, t *task.Aggregate) error {
	var rows []*aggregate.Card
	now := d.Now().UTC().Truncate(time.Millisecond)
	if open, waits := toCopy(t, d.settings); waits {
		users, err := d.approvers(ctx, t, open)
		if err != nil {
			return fmt.Errorf("who gets a copy: %w", err)
		}
		for _, user := range users[:min(len(users), mostCopies)] {
			rows = append(rows, &aggregate.Card{
				CardType: open.Kind, Subject: open.Key, User: user, Others: max(0, len(users)-mostCopies), State: aggregate.CardNone, AggregateID: d.ref.ID, ID: d.NewID(), CreatedAt: now,
			})
		}
	}
	if outcomeDue(t, d.Now()) {
		rows = append(rows, &aggregate.Card{
			CardType: task.CardOutcome, Subject: outcome, User: t.Head.Requester, State: aggregate.CardNone, AggregateID: d.ref.ID, ID: d.NewID(), CreatedAt: now,
		})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := d.Rows.AddCopies(ctx, d.ref, rows); err != nil {
		return fmt.Errorf("make copies: %w", err)
	}
	for _, c := range rows {
		t.Add(c)
	}
	if rows[0].Others > 0 { // the card counts them
		return d.Store.Redraw(ctx, d.ref)
	}
	return nil
}

// approvers are the listed people who may stamp a gate, by the same rule as a click, in the order of the list. Whoever asked
// in direct messages has the card there.
func (d *drawing) approvers(ctx context.Context, t *task.Aggregate, open task.OpenGate) ([]string, error) {
	all := slices.Clone(d.settings.Approvers.Users)
	for _, group := range d.settings.Approvers.Usergroups {
		members, err := d.Slack.UsergroupMembers(ctx, group)
		switch slackapi.Code(err) {
		case slackapi.CodeUnknownMethod:
		case slackapi.CodeNoSuchGroup: // whoever is listed otherwise gets a copy all the same
			slog.WarnContext(ctx, "a listed user group is gone", "group", group)
		default:
			if err != nil {
				return nil, err
			}
		}
		all = append(all, members...)
	}
	var out []string
	origin := t.Request.Origin()
	policy := aggregate.Policy{Team: origin.Team, Mode: d.settings.Approvers.Mode, Approvers: all, AllowSelf: d.settings.AllowSelfApproval}
	for _, user := range all {
		if slices.Contains(out, user) || user == origin.User && origin.ChannelType == "im" {
			continue
		}
		if len(out) >= mostCopies { // how many more there are is counted, and who they are need not be known
			out = append(out, user)
			continue
		}
		by, err := d.who.Requester(ctx, d.Slack, origin.Team, user, d.Now())
		if err != nil {
			return nil, err
		}
		if c, err := t.Approve(open.ID, by, policy, d.Now()); err == nil && !c.Empty() {
			out = append(out, user)
		}
	}
	return out, nil
}

// askForCopies asks for the copies to be drawn, after the cards were.
func (d *drawing) askForCopies(ctx context.Context) error {
	if !d.copied(ctx) {
		return nil
	}
	if _, err := d.Queue.SendMessage(ctx, effect.Copies(d.QueueURL, d.ref, d.head.Rev, d.head.Redraws)); err != nil {
		return fmt.Errorf("ask for copies: %w", err)
	}
	slog.InfoContext(ctx, "asks for copies", d.ref.Log(), "rev", d.head.Rev)
	return nil
}

// directory is what copies ask Slack.
type directory interface {
	people.Users
	UsergroupMembers(ctx context.Context, group string) ([]string, error)
	OpenDM(ctx context.Context, user string) (channel string, err error)
	Link(ctx context.Context, channel, ts, thread string) string
}
