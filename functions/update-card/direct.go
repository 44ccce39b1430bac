package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// mostAsked is how many people get a direct message about a stage of a gate. Others find it in their lists.
const mostAsked = 20

// over stands for the hash of a direct message that was shrunk to a line: it isn't drawn again.
const over = "over"

// directs sends the direct messages that are due, and shrinks those that are over. If one person can't be written to,
// the others still get theirs.
func (d *drawing) directs(ctx context.Context) error {
	if err := d.addDirects(ctx); err != nil {
		return err
	}
	d.all = nil
	var failed []error
	for _, c := range d.a.Common().Copies {
		if err := d.direct(ctx, c); err != nil {
			failed = append(failed, fmt.Errorf("copy %s: %w", c.Key(), err))
		}
		if slackapi.Silent(errors.Join(failed...)) {
			break
		}
	}
	if d.vacant {
		failed = append(failed, d.Store.Redraw(ctx, d.ref))
	}
	return errors.Join(failed...)
}

// direct makes one message what it has to be. What asks somebody is posted once, and changed once: when that is over.
func (d *drawing) direct(ctx context.Context, c *aggregate.Card) error {
	asks := c.CardType != task.CardOutcome && c.CardType != aggregate.CardDecided
	owed := asks && d.owes(c)
	switch {
	case c.State == aggregate.CardUnreachable, c.Hash == over, asks && !owed && c.State == aggregate.CardNone,
		owed && c.State == aggregate.CardPosted:
		return nil
	}
	set, link := d.settings, card.Page(d.Console, d.ref) // who is asked need not be in the channel
	around := card.Around{Console: d.Console}
	said := "" // the language of the request's words
	if t, is := d.a.(*task.Aggregate); is {
		said = t.Language("")
	}
	if set.Locale = cmp.Or(said, set.Locale); said == "" && c.CardType == task.CardOutcome { // no card: for one person
		set.Locale = d.language(ctx, c.User)
	}
	if !asks {
		link = d.origin(ctx, c)
	}
	m, ok := card.Copy(d.a, d.standsNow(c), set, around, link, d.Now())
	hash := card.Hash(m)
	if !ok || c.State == aggregate.CardPosted && c.Hash == hash {
		return nil
	}
	if asks && !owed {
		return d.send(ctx, c, m, over)
	}
	opened, err := d.opened(ctx, c)
	if err != nil {
		return err
	}
	m, _ = card.Copy(opened, d.standsNow(c), set, around, link, d.Now())
	return d.send(ctx, c, m, hash)
}

// origin returns the address of the card of which a message tells; "": its reader can't open it, in others' direct
// messages.
func (d *drawing) origin(ctx context.Context, c *aggregate.Card) string {
	from := d.a.Origin()
	if from.ChannelType == "im" && c.User != from.User {
		return ""
	}
	at, thread := d.a.Beginning()
	for _, x := range d.a.Common().Cards {
		if x.Subject == c.About() {
			at = cmp.Or(x.MessageTS, at)
		}
	}
	at = cmp.Or(at, thread)
	return d.Slack.Link(ctx, from.Channel, at, thread)
}

// addDirects makes the rows of the messages that are due, in one transaction, and adds them to the drawing.
func (d *drawing) addDirects(ctx context.Context) error {
	rows, err := d.asked(ctx)
	if err != nil {
		return fmt.Errorf("who is asked: %w", err)
	}
	owner := tenancy.Tenant{}
	if t, is := d.a.(*task.Aggregate); is && t.Head.Ended != nil && t.Head.Ended.Reason == task.ReasonAskerLeft {
		if owner, err = d.Store.Tenant(ctx, d.ref.Tenant); err != nil {
			return fmt.Errorf("who administers: %w", err)
		}
	}
	if rows = slices.Concat(rows, endings(d.a, d.Now(), owner.Admins...), d.left(), d.tells()); len(rows) == 0 {
		return nil
	}
	for _, c := range rows {
		c.Rev, c.State, c.AggregateID, c.ID, c.CreatedAt = d.head.Rev, aggregate.CardNone, d.ref.ID, d.NewID(),
			d.Now().UTC().Truncate(time.Millisecond)
	}
	if err := d.Store.AddCopies(ctx, d.ref, rows); err != nil {
		return fmt.Errorf("note who is told: %w", err)
	}
	for _, c := range rows {
		d.a.Add(c)
	}
	return nil
}

// owes reports whether a message's person is asked now.
func (d *drawing) owes(c *aggregate.Card) bool {
	q, st, s := d.turn()
	return s != nil && q.Key == c.Subject && (c.Stage == 0 || card.Owes(st, d.standsNow(c)))
}

// turn returns the gate that waits, where it stands, and its present stage; nil: nobody is asked.
func (d *drawing) turn() (q aggregate.Question, st circulation.State, s *circulation.StageState) {
	q, waits := d.a.Asks()
	if g := d.a.GateAt(q.Key); waits && g != nil {
		st = circulation.Walk(g.Circulating())
		s = st.CurrentStage()
	}
	return q, st, s
}

// asked returns the rows of those who are asked now and have no message about that: of a route's present stage those
// who owe it a stamp, whether they are in the channel or not, and who stands in for them; by the settings the listed
// approvers, unless some have theirs.
func (d *drawing) asked(ctx context.Context) (rows []*aggregate.Card, err error) {
	q, st, s := d.turn()
	if s == nil {
		return nil, nil
	}
	copies := d.a.Common().CopiesOf(q.Key)
	if s.Mode == circulation.ModeSettings {
		if len(copies) > 0 {
			return nil, nil
		}
		users, err := d.approvers(ctx, q)
		for _, user := range users {
			rows = append(rows, &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: user})
		}
		return rows, err
	}
	for _, p := range st.Owes() {
		rows = append(rows, &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: p.User, Stage: st.Present})
	}
	rows = slices.DeleteFunc(append(rows, d.standing(q, st)...), func(c *aggregate.Card) bool {
		return aggregate.Find(copies, c.Key()) != nil
	})
	copies = slices.DeleteFunc(copies, func(c *aggregate.Card) bool { return c.Stage != st.Present })
	return rows[:min(len(rows), max(0, mostAsked-len(copies)))], nil
}

// standing returns the rows of those who stand in now for somebody who owes the present stage a stamp.
func (d *drawing) standing(q aggregate.Question, st circulation.State) (rows []*aggregate.Card) {
	for _, x := range d.away {
		c := &aggregate.Card{CardType: q.Kind, Subject: q.Key, User: x.Hand.User, Stage: st.Present,
			For: []string{x.Principal.User}}
		switch same := aggregate.Find(rows, c.Key()); {
		case !x.Counts(d.Now()):
		case same != nil:
			same.For = append(same.For, x.Principal.User)
		default:
			rows = append(rows, c)
		}
	}
	return rows
}

// standsNow returns the row of a message without those for whom its person doesn't stand in any more.
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

// approvers returns the first of the listed people who may approve a gate, by the same rule as a click, in the list's
// order. It omits a requester who asked in direct messages: they have the card there.
func (d *drawing) approvers(ctx context.Context, q aggregate.Question) (out []string, err error) {
	if d.settings.Approvers.Mode != aggregate.ApproversList {
		return nil, nil
	}
	origin := d.a.Origin()
	policy := d.settings.Policy(origin.Team)
	policy.Approvers, err = d.who.Listed(ctx, d.Slack, origin.Team, d.settings.Approvers, d.Now())
	if err != nil {
		return nil, err
	}
	for _, user := range policy.Approvers {
		if len(out) == mostAsked {
			break
		}
		if slices.Contains(out, user) || user == origin.User && origin.ChannelType == "im" {
			continue
		}
		by, err := d.who.Requester(ctx, d.Slack, origin.Team, user, d.Now())
		if err != nil {
			return nil, err
		}
		if decide.Approves(d.a, q.ID, by, policy, d.Now()) {
			out = append(out, user)
		}
	}
	return out, nil
}

// standIns reads who may stand in for those whose turn it is. Whoever sets or ends that has the cards drawn again.
func (d *drawing) standIns(ctx context.Context) error {
	q, st, s := d.turn()
	if s == nil || len(st.Owes()) == 0 {
		return nil
	}
	given, err := d.Store.Delegations(ctx, d.ref.Tenant)
	var all []circulation.StandIn
	for _, x := range given {
		all = append(all, x.StandIn())
	}
	g := d.a.GateAt(q.Key).Circulating()
	d.away = st.StoodFor(&g, circulation.Beside(all, d.a.Askers()...))
	return err
}

// tells returns the rows of the messages that tell a channel or a user group of decisions, as their rules say, and that
// aren't there yet. A group is named in the thread of what was decided, and learns nothing of what was asked in direct
// messages. Of a request each is told once, however many of its gates name it.
func (d *drawing) tells() (rows []*aggregate.Card) {
	_, request := d.a.(*task.Aggregate)
	of := d.a.Origin()
	for _, key := range decided(d.a) {
		g := d.a.GateAt(key)
		if g == nil || g.Route == nil || g.Route.Tells == "" || g.ApprovedAt == nil ||
			d.Now().Sub(*g.ApprovedAt) >= outcomeWithin {
			continue
		}
		c := &aggregate.Card{CardType: aggregate.CardDecided, Subject: aggregate.DecidedSubject(key),
			User: g.Route.Tells, Channel: g.Route.Tells}
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

// decided returns the keys of the gates that people settled: of steps that began to run, and of a call.
func decided(a aggregate.Aggregate) []string {
	switch a := a.(type) {
	case *task.Aggregate:
		return a.Decided()
	case *call.Aggregate:
		if a.Call.Gate.Status == aggregate.Approved {
			return []string{call.Key}
		}
	}
	return nil
}

// outcomeWithin is how long after a task's end its requester is told. After that it is no news.
const outcomeWithin = 24 * time.Hour

// endings returns the messages that are due about what ended: to askers that something was given back to them, to the
// requester that a generation failed, or a task ended, unless they ended it themselves, or to administrators if the
// requester has left, to who answers for a key that its call was refused, or somebody else cancelled it. Who asked
// directly (see Aggregate.Direct), or talks with an agent, sees it anyway.
func endings(a aggregate.Aggregate, now time.Time, admins ...string) (rows []*aggregate.Card) {
	var to []string
	var at time.Time
	about := card.OutcomeCopy
	switch a := a.(type) {
	case *task.Aggregate:
		rows, about = returned(a), card.Outcome(a)
		switch e := a.Head.Ended; {
		case e == nil && a.Head.Parked != nil && !a.Direct():
			c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.ParkedCopy + strconv.Itoa(a.Head.Run),
				User: a.Head.Requester}
			if aggregate.Find(a.Copies, c.Key()) == nil {
				rows = append(rows, c)
			}
		case e == nil:
		case e.Reason == task.ReasonAskerLeft:
			to, at = admins, e.At
		case e.By != a.Head.Requester && a.Task != nil && !a.Direct() && !card.ToldRequester(a):
			to, at = []string{a.Head.Requester}, e.At
		}
	case *call.Aggregate:
		x := a.Call
		cancelled := x.CancelReason == conversation.ReasonWithdrawn && x.CancelledBy != ""
		if (x.TurnedDown() || cancelled) && x.CancelledBy != x.Answers {
			to, at = []string{x.Answers}, *x.CompletedAt
		}
	}
	if now.Sub(at) >= outcomeWithin || len(a.Common().CopiesOf(about)) > 0 {
		return rows
	}
	for _, user := range to {
		rows = append(rows, &aggregate.Card{CardType: task.CardOutcome, Subject: about, User: user})
	}
	return rows
}

// left tells whoever asked that the present stage waits for somebody who has left and for whom nobody stands in. Who
// asked in direct messages sees it anyway.
func (d *drawing) left() []*aggregate.Card {
	q, st, _ := d.turn()
	c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.LeftCopy + q.Key, User: d.head.Requester,
		Stage: st.Present}
	alone := func(user string) bool { return !circulation.Stood(d.away, user, d.Now()) }
	t, is := d.a.(*task.Aggregate)
	if is && !t.Direct() && t.Card(c.Key()) == nil && slices.ContainsFunc(t.Head.Left, alone) {
		if _, waits := card.Copy(t, c, d.settings, card.Around{}, "", d.Now()); waits {
			return []*aggregate.Card{c}
		}
	}
	return nil
}

// returned tells the askers who have not been told that a form was given back to them.
func returned(t *task.Aggregate) (rows []*aggregate.Card) {
	row := t.Returned()
	if row == nil || t.Direct() {
		return nil
	}
	for _, p := range row.Askers {
		c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.ReturnedCopy + row.Key(), User: p.User}
		if aggregate.Find(slices.Concat(t.Copies, rows), c.Key()) == nil {
			rows = append(rows, c)
		}
	}
	return rows
}
