package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// route is a gate under a rule, and where it stands.
type route struct {
	gate *aggregate.Gate
	st   circulation.State
	open bool // it waits for people
}

// onRoute returns the gate of the row with this key. ok is false for one without a rule.
func (d *drawing) onRoute(key string) (r route, ok bool) {
	a, has := d.a.(interface {
		GateAt(key string) *aggregate.Gate
	})
	if !has {
		return r, false
	}
	if r.gate = a.GateAt(key); r.gate == nil || !r.gate.Ruled() {
		return r, false
	}
	r.st = circulation.Walk(r.gate.Circulating())
	q, waits := d.a.(decide.Subject).Asks()
	r.open = waits && q.Key == key
	return r, true
}

// unlisted returns the rows of those who owe the present stage a stamp and have no row there yet, one for each. They
// are the people of the route, whether they are in the channel or not, and whatever the settings say of approvers.
func (d *drawing) unlisted(q aggregate.Question, r route) (rows []*aggregate.Card) {
	asked := r.st.CurrentStage()
	if !r.open || asked == nil {
		return nil
	}
	for _, p := range r.st.Owes() {
		c := &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: p.User, Stage: r.st.Present, OwedSince: asked.OpenedAt,
			OwedRev: d.head.Rev}
		if aggregate.Find(d.a.Common().Copies, c.Key()) == nil {
			rows = append(rows, c)
		}
	}
	return append(rows, d.standing(q, r)...)
}

// standing returns the rows of those who stand in now for somebody who owes the present stage a stamp, as far as they
// have none there yet.
func (d *drawing) standing(q aggregate.Question, r route) (rows []*aggregate.Card) {
	for _, x := range d.away {
		c := &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: x.Hand.User, Stage: r.st.Present,
			For: []string{x.Principal.User}}
		switch same := aggregate.Find(rows, c.Key()); {
		case !x.Counts(d.Now()) || aggregate.Find(d.a.Common().Copies, c.Key()) != nil:
		case same != nil:
			same.For = append(same.For, x.Principal.User)
		default:
			rows = append(rows, c)
		}
	}
	return rows
}

// standsNow returns the row of a copy without those for whom its person doesn't stand in any more.
func (d *drawing) standsNow(c *aggregate.Card) *aggregate.Card {
	if c.For == nil {
		return c
	}
	now := *c
	now.For = slices.DeleteFunc(slices.Clone(c.For), func(principal string) bool {
		return !slices.ContainsFunc(d.away, func(x circulation.StandIn) bool {
			return x.Counts(d.Now()) && x.Hand.User == c.User && x.Principal.User == principal
		})
	})
	return &now
}

// unsent leaves those new copies of a stage without a message that are beyond mostCopies there. Their rows only list
// what their people owe. Each row counts how many others have no message.
func (d *drawing) unsent(rows []*aggregate.Card) {
	sent, rest := 0, 0
	for _, c := range rows {
		if c.Stage == 0 {
			continue
		}
		if sent == 0 && rest == 0 {
			sent, rest = d.sentAt(c)
		}
		if sent++; sent > mostCopies {
			c.State = aggregate.CardUnsent
			rest++
		}
	}
	for _, c := range rows {
		if c.Stage > 0 {
			c.Others = rest
		}
	}
}

// sentAt counts the copies of the same stage with and without a message.
func (d *drawing) sentAt(c *aggregate.Card) (sent, rest int) {
	for _, other := range d.a.Common().CopiesOf(c.Subject) {
		switch {
		case other.Stage != c.Stage:
		case other.State == aggregate.CardUnsent:
			rest++
		default:
			sent++
		}
	}
	return sent, rest
}

// owedAnew returns since when a copy's person owes a stamp, nil: they owe none, and whether its row says otherwise.
func (d *drawing) owedAnew(c *aggregate.Card) (since *time.Time, anew bool) {
	if c.Stage == 0 || c.For != nil {
		return nil, false
	}
	r, ok := d.onRoute(c.Subject)
	switch {
	case ok && r.open && card.Owes(r.st, c):
		since = r.st.CurrentStage().OpenedAt
	}
	return since, (since == nil) != (c.OwedSince == nil) || since != nil && !since.Equal(*c.OwedSince)
}

// listOwed makes the rows of who begins to owe a stamp and of who stands in for them, and notes in the others what
// their people owe by now. It doesn't call Slack, so what is owed is listed however long cards and messages wait for
// Slack.
func (d *drawing) listOwed(ctx context.Context) error {
	if _, ok := d.kind.(withCopies); !ok {
		return nil
	}
	if err := d.standIns(ctx); err != nil {
		return err
	}
	if err := d.beginOwing(ctx); err != nil {
		return err
	}
	return d.noteOwed(ctx)
}

// beginOwing makes the rows of those who owe the present stage a stamp and have none yet. If another drawing was faster
// with some of them, a redraw finds out what is left.
func (d *drawing) beginOwing(ctx context.Context) error {
	q, waits := d.a.(decide.Subject).Asks()
	r, ok := d.onRoute(q.Key)
	if !ok || !waits {
		return nil
	}
	rows := d.unlisted(q, r)
	if len(rows) == 0 {
		return nil
	}
	for _, c := range rows {
		d.begin(c)
	}
	d.unsent(rows)
	err := d.Rows.AddCopies(ctx, d.ref, rows)
	if isOther(err) {
		return d.Store.Redraw(ctx, d.ref)
	}
	if err != nil {
		return fmt.Errorf("list what is owed: %w", err)
	}
	for _, c := range rows {
		d.a.Add(c)
	}
	return nil
}

// mostAway is for how many of a stage's people a drawing reads who stands in for them.
const mostAway = 5

// standInsLast is how long it is not asked again who stands in for somebody at a stage.
const standInsLast = time.Minute

// standIns reads who may stand in for those whose turn it is, with a query for each that was not read lately. Whoever
// sets or ends that has the cards drawn again, which reads anew; the index that is read may be slightly stale.
func (d *drawing) standIns(ctx context.Context) error {
	q, waits := d.a.(decide.Subject).Asks()
	r, ok := d.onRoute(q.Key)
	if !ok || !waits {
		return nil
	}
	owes, g := r.st.Owes(), r.gate.Circulating()
	var all []circulation.StandIn
	for _, p := range owes[:min(len(owes), mostAway)] {
		of := absent{d.ref, q.Key, r.st.Present, d.a.Root().Common().Redraws, p.User}
		given, err := d.Handler.away.Ask(of, d.Now(), standInsLast, func() ([]tenancy.Delegation, error) {
			return d.Store.DelegationsOf(ctx, d.ref.Tenant, of.person)
		})
		if err != nil {
			return err
		}
		for _, x := range given {
			all = append(all, x.StandIn())
		}
	}
	if len(all) == 0 {
		return nil
	}
	d.away = append(d.away, r.st.StoodFor(&g, circulation.Beside(all, d.a.(decide.Subject).Askers()...))...)
	return nil
}

// absent is who may be away at a stage that asks them, since its cards were last asked to be drawn again.
type absent struct {
	ref            aggregate.Ref
	gate           string
	stage, redraws int
	person         string
}

// noteOwed writes into the rows of copies since when their people owe a stamp, and that they owe none any more.
func (d *drawing) noteOwed(ctx context.Context) error {
	for _, c := range d.a.Common().Copies {
		since, anew := d.owedAnew(c)
		if !anew {
			continue
		}
		err := d.Rows.OwedCopy(ctx, d.ref, c, since, d.head.Rev)
		if err != nil && !errors.Is(err, aggregate.ErrNotFound) { // a copy leaves with its action
			return fmt.Errorf("what is owed: %w", err)
		}
		c.OwedSince = since
	}
	return nil
}

// tells returns the rows of the messages that tell a channel or a user group of decisions, as their rules say, and that
// aren't there yet. A group is named in the thread of what was decided, and learns nothing of what was asked in direct
// messages. Of a request each is told once, however many of its gates name it.
func (d *drawing) tells(k withCopies) (rows []*aggregate.Card) {
	_, request := d.a.(*task.Aggregate)
	of := d.a.(decide.Subject).Origin()
	for _, key := range k.Decided(d.a) {
		r, ok := d.onRoute(key)
		if !ok || !r.st.Settled || r.gate.Route.Tells == "" || d.Now().Sub(*r.gate.ApprovedAt) >= outcomeWithin {
			continue
		}
		c := &aggregate.Card{CardType: aggregate.CardDecided, Subject: aggregate.DecidedSubject(key),
			User: r.gate.Route.Tells, Channel: r.gate.Route.Tells}
		if c.TellsGroup() {
			c.Channel = of.Channel
		}
		is := func(other *aggregate.Card) bool {
			return other.Key() == c.Key() || request && other.CardType == c.CardType && other.User == c.User
		}
		if !(c.TellsGroup() && of.ChannelType == "im") && !slices.ContainsFunc(slices.Concat(d.a.Common().Copies, rows), is) {
			rows = append(rows, c)
		}
	}
	return rows
}

// returned tells an asker who has not been told that a form was given back to them.
func returned(t *task.Aggregate) *aggregate.Card {
	row := t.Returned()
	if row == nil || t.Request.ChannelType == "im" {
		return nil
	}
	subject := card.ReturnedCopy + row.Key()
	for _, p := range row.Askers {
		if !slices.ContainsFunc(t.CopiesOf(subject), func(c *aggregate.Card) bool { return c.User == p.User }) {
			return &aggregate.Card{CardType: task.CardOutcome, Subject: subject, User: p.User}
		}
	}
	return nil
}
