// Package decide is the area between a click or an event and a commit, and between committed rows and their effects.
// The package itself makes commits of people's decisions, whether they come from a card's button, a dialog in Slack or
// a form of the console: it checks who the person is and what they may do, decides on the current rows, and returns the
// outcome.
//
// It imports everything except functions. Begin with Maker for a click and effect for what follows.
//
// A click's ids are hints. Maker loads the subject that they name and asks whether it has such a gate, at the stage and
// with the hash that the person saw; what has moved since is refused with its reason, never stamped. Who the person is
// Slack says at each click, not the click: guests, strangers and people who left decide nothing. Settings and
// delegations are read then too, and the delegation by which a hand acts becomes a condition of the commit: if it ends
// between click and commit, the click is decided again.
//
// A kind that asks people is a Subject; its further buttons are in Buttons. Cards and the console both go by Maker, so
// there is one order of checks. A refusal carries a type, and explain.Surface.Refused makes the sentence of it.
//
// The same person deciding the same thing twice is a success that writes nothing. A second rejection with another
// reason is told what became of the gate, because its reason would be lost.
//
// Who stands in for others is looked up only if the hand owes nothing itself. Of several principals people are asked as
// whom; nothing is asked where one is possible.
package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// Act makes a change of a subject for a person. id names a gate, an execution or the subject itself.
type Act func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// Button is an act that needs only a click.
type Button struct {
	Act
	Withdraws, Retries bool // as in people.Want
}

// Buttons returns the acts of card buttons that say nothing of what the card shows, by action_id.
func Buttons() map[string]Button {
	return map[string]Button{
		"cancel_execution":      {Act: on((*task.Aggregate).CancelExecution), Withdraws: true},
		"retry_execution":       {Act: on((*task.Aggregate).RetryExecution), Withdraws: true, Retries: true},
		"end_execution":         {Act: on((*task.Aggregate).CancelExecution), Withdraws: true},
		"confirm_write":         {Act: on(confirming.Confirm), Withdraws: true, Retries: true},
		"retry_generation":      {Act: onWhole((*task.Aggregate).RetryGeneration), Withdraws: true, Retries: true},
		card.CancelCall:         End(),
		card.CancelAction:       {Act: on((*conversation.Aggregate).Cancel), Withdraws: true},
		card.CheckAction:        {Act: on((*conversation.Aggregate).Check), Withdraws: true},
		card.MakeRequest:        {Act: on((*conversation.Aggregate).MakeRequest)},
		card.ReopenConversation: {Act: onWhole((*conversation.Aggregate).Reopen)},
	}
}

// confirming is a subject whose writes of unknown outcome a person may have seen arrive.
type confirming interface {
	Subject
	Confirm(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
}

// End returns the button that ends a subject: it cancels a task or a call, or closes a conversation.
func End() Button { return Button{Act: onWhole(Subject.End), Withdraws: true} }

// on makes an act on one kind of subject. For other kinds it returns ErrNotFound.
func on[A Subject](decide func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error)) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(A)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(of, id, by, p, now)
	}
}

// onWhole makes an act on the subject itself, whose id the button carries.
//
//go:noinline
func onWhole[A Subject](decide func(a A, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error)) Act {
	return on(func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if id != a.Ref().ID {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, by, p, now)
	})
}

// Shown makes an act on a gate of this type. It returns aggregate.ErrMoved if the gate's content does not have the hash
// of the content that the person saw.
//
//go:noinline
func Shown(kind aggregate.CardType, hash string, act Act) Act {
	return Gate(kind, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
		aggregate.Change, error) {
		if a.Asked(id).Hash != hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// Gate makes an act on a gate that asks by this type of card. Inlined, it and its like would stand two dozen times in
// the function that answers clicks, which has to be small.
//
//go:noinline
func Gate(kind aggregate.CardType, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if kind == "" || a.Asked(id).Kind != kind {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return act(a, id, by, p, now)
	}
}

// Approve stamps the gate's current content, at the stage that the person saw. What nobody can read nobody approves.
func Approve(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	change, err := along(a, id, circulation.Stamp, "", by, p, now)
	switch {
	case err != nil || change.Empty():
	case unreadable(a, id):
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleUnread}
	case p.Left != nil:
		err = p.Left()
	}
	return change, err
}

// Approves reports whether this person's approval of the gate's current content would count, under a rule at its
// present stage.
func Approves(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) bool {
	if g := a.Asked(id).Gate; g != nil {
		by.Stage = circulation.Walk(g.Circulating()).Present
	}
	c, err := Approve(a, id, by, p, now)
	return err == nil && !c.Empty()
}

// Reject sends back a gate's content. It changes nothing if the same person has rejected it with the same reason. With
// another reason it returns ErrDecided because that reason would not be saved.
func Reject(reason string) Act { return Does(circulation.SendBack, reason) }

// Does does what this kind says on a gate; text is the reason of an act that ends it.
func Does(kind circulation.Kind, text string) Act {
	if !kind.Does().Ends {
		return Approve
	}
	return once(text, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		return along(a, id, kind, text, by, p, now)
	})
}

// once makes an act that rejects a gate return ErrDecided if the same person has rejected it with another reason.
//
//go:noinline
func once(reason string, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		c, err := act(a, id, by, p, now)
		if g := a.Asked(id).Gate; err == nil && c.Empty() && g != nil && g.RejectedAt != nil &&
			g.RejectionReason != aggregate.SeenReason(reason) {
			return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: g.RejectedBy,
				At: *g.RejectedAt}
		}
		return c, err
	}
}

// MayReject checks whether a rejection would be accepted before the person gives a reason. Its change is never
// committed. It uses a reason that nobody can type, so it also refuses a person who has already rejected the gate.
func MayReject(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return Reject(untyped)(a, id, by, p, now)
}

// untyped is a reason that people see and nobody can type.
const untyped = "?\x00"

// OnRoute reports whether the person is on the route of the gate with this id, or stands in now for somebody who is:
// then they may read what it asks.
func (v Verdict) OnRoute(id, user string, now time.Time) bool {
	if v.Subject == nil {
		return false
	}
	g := v.Subject.Asked(id).Gate
	return g != nil && (g.OnRoute(user, nil) || slices.ContainsFunc(v.StandIns, func(s circulation.StandIn) bool {
		return s.Counts(now) && g.OnRoute(s.Principal.User, &s)
	}))
}

// askedMode returns whom the present stage of a gate asks: empty of what is no gate.
func askedMode(of Subject, id string) circulation.Mode {
	g := of.Asked(id).Gate
	switch s := g.CurrentStage(); {
	case g == nil:
		return ""
	case !g.Ruled(): // also once it is settled
		return circulation.ModeSettings
	case s != nil:
		return s.Mode
	}
	return circulation.ModePeople // nobody is looked up
}

// along makes an act on a gate at the stage that the person saw.
func along(a Subject, id string, kind circulation.Kind, text string, by aggregate.Actor,
	p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	g := a.Asked(id).Gate
	if g == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	if by.Stage <= 0 && st.Present > 0 && g.Ruled() { // they saw none, and are told whose turn it is
		return aggregate.Change{}, &circulation.Refusal{Why: circulation.WhyStage,
			Name: st.CurrentStage().Name, People: st.Owes()}
	}
	act := g.Acting(kind, by, aggregate.SeenReason(text))
	if s := st.CurrentStage(); s != nil && s.Mode == circulation.ModeChannel && by.Member {
		act.Found.Channel = by.Channel
	}
	on := standIn(&c, &st, &act, p.StandIns, a.Root().Common().Moment(now))
	return a.Act(id, act, by, p, now, on...)
}

// Withdraws returns the act that cancels what a gate of this type is about: an action, by the gate's id, or all of the
// subject.
func Withdraws(kind aggregate.CardType) Act {
	if kind == conversation.CardAction {
		return on((*conversation.Aggregate).Cancel)
	}
	return End().Act
}

// Rejects makes the act of the dialog by which somebody says no. It returns aggregate.ErrMoved if the gate does not ask
// what the person saw.
func Rejects(r card.Rejected) Act {
	if r.Then == card.Cancels {
		return Withdraws(r.Type)
	}
	act := Does(r.Then, r.Reason)
	return Shown(r.Type, r.Hash, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		if g := a.Asked(id).Gate; r.Stage > 0 && (g == nil || g.AskedSum != r.Asked) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// Refilled is what a form came back with that an asker fills in again. Its hash is not to be trusted.
type Refilled struct{ Hash string }

// MayRefill reports whether a person may open the form now. Its change is never committed.
func MayRefill(hash string) Act {
	return Shown(task.CardProcess, hash, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, t.MayRefill(id, by, p)
	}))
}

// Asks reports whether what was given back is this person's own request, also when it waits no more, and is still what
// the form showed or what was filled in meanwhile.
func (f Refilled) Asks() Act {
	return Gate(task.CardProcess, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		_ time.Time) (aggregate.Change, error) {
		err := t.AsksFor(id, by, p)
		if err == nil && t.Asked(id).Hash != f.Hash && t.RefilledBefore(id) == nil {
			err = aggregate.ErrMoved
		}
		return aggregate.Change{}, err
	}))
}

// Save makes what was filled in the next version. Who comes second is told that theirs wasn't used, and whose was.
func (f Refilled) Save(made task.Refill) Act {
	return Gate(task.CardProcess, on(func(t *task.Aggregate, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		change, err := t.Refill(id, made, by, p, now)
		if t.Asked(id).Hash != f.Hash && (err != nil || !change.Empty()) {
			err = aggregate.ErrMoved
		}
		if _, old := errors.AsType[aggregate.ErrNotLatest](err); old || errors.Is(err, aggregate.ErrMoved) {
			return aggregate.Change{}, cmp.Or(t.RefilledBefore(id), err)
		}
		return change, err
	}))
}

// StandIns are the delegations by which somebody stands in for others at a time, those first that began first.
type StandIns struct {
	user string
	all  []circulation.StandIn
	at   time.Time
}

// StandInsOf reads by what somebody stands in for others now, with one query.
func StandInsOf(ctx context.Context, rows interface {
	StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error)
}, tenant, user string, now time.Time) (x StandIns, err error) {
	x.user, x.at = user, now
	if x.all, err = rows.StandIns(ctx, tenant, user); err != nil {
		return x, fmt.Errorf("list for whom a person stands in: %w", err)
	}
	x.all = slices.DeleteFunc(x.all, func(s circulation.StandIn) bool { return !s.Counts(now) })
	sort.SliceStable(x.all, func(i, j int) bool { return x.all[i].Begins.Before(x.all[j].Begins) })
	return x, nil
}

// Owes returns for whom the person may stamp at a gate's present stage, and its number, as Gate.OwesFor does. askers
// are such beside the gate's.
func (x StandIns) Owes(g *aggregate.Gate, askers ...string) (principal string, stage int) {
	if g == nil || len(x.all) == 0 {
		return "", 0
	}
	return g.OwesFor(x.user, circulation.Beside(x.all, askers...), x.at)
}

// OnRoute reports whether the person stands in for somebody on a gate's route, as Gate.OnRoute says.
func (x StandIns) OnRoute(g *aggregate.Gate, askers ...string) bool {
	return slices.ContainsFunc(circulation.Beside(x.all, askers...), func(s circulation.StandIn) bool {
		return g.OnRoute(s.Principal.User, &s)
	})
}

// standIn completes an act of a hand that owes nothing at the present stage itself but stands in for somebody, and
// returns the row on which that depends. What the hand does once more it does for whom it did it before.
func standIn(g *circulation.Gate, st *circulation.State, act *circulation.Act, all []circulation.StandIn,
	at time.Time) []aggregate.Owned {
	if done := st.Again(act); done != nil {
		act.Principal, act.Found.Delegation = done.Principal, done.Found.Delegation
		return nil
	}
	by := st.StandsIn(g, act.Hand, all, at)
	if by == nil {
		return nil
	}
	act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
	return []aggregate.Owned{{Partition: tenancy.DelegatePrefix, Key: by.Key, Rev: by.Rev}}
}

// StandIns reads the delegations by which somebody stands in for others, with one query, if only by them they can do
// something at the gate with this id: also for somebody who has left.
func (m Maker) StandIns(ctx context.Context, of Subject, id, user string) ([]circulation.StandIn, error) {
	g := of.Asked(id).Gate
	if g == nil || !g.NeedsStandIn(user) {
		return nil, nil
	}
	all, err := m.Store.StandIns(ctx, of.Ref().Tenant, user)
	if err != nil {
		return nil, fmt.Errorf("read the delegations of %s: %w", user, err)
	}
	return circulation.Beside(all, of.Askers()...), nil
}
