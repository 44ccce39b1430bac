package decide

import (
	"context"
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// TakeAsReason rejects the gate that waits in a message's thread with the message's text as the reason. One commit
// rejects the gate and ends the message's own task, so that a message is never both a reason and a request. If the gate
// was decided meanwhile, nothing is rejected, nor is a gate under a rule: of that people say in a form what comes
// after. shown is what the message said where the person clicked, gate is the click on that gate, and refused is why it
// can't be rejected.
func (m Maker) TakeAsReason(ctx context.Context, c Click, shown string) (v Verdict, gate Click, refused error) {
	gate = c // the gate's own button
	var by aggregate.Actor
	var policy aggregate.Policy
	mine := on(func(a *task.Aggregate, id string, actor aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		by, policy = actor, p
		return a.TakeAsReason(id, shown, actor, p, now)
	})
	v = m.judge(ctx, c, mine, func(ctx context.Context, x Subject, f aggregate.Decision[aggregate.Aggregate]) error {
		a, is := x.(*task.Aggregate)
		if !is || a.Choice == nil || !store.Asks(a.Choice.Gate.Kind) {
			_, err := f(x)
			return errors.Join(err, aggregate.ErrNotFound)
		}
		beside := a.Choice.Gate
		gate.Ref.ID, gate.ID = beside.TaskID, beside.ID
		return m.Store.DecideBoth(ctx, c.Ref, gate.Ref, func(x, y aggregate.Aggregate) (end, rejection aggregate.Change,
			err error) {
			refused = nil
			own, other := x.(*task.Aggregate), y.(*task.Aggregate) // the types that their refs name
			end, err = f(own)
			if err == nil && end.Empty() {
				return aggregate.Change{}, aggregate.Change{}, nil
			}
			if g := other.GateWith(gate.ID); g.Ruled() && other.IsOpen(gate.ID) && policy.Request(by) == nil &&
				(err == nil || explain.ClassOf(err) == explain.NotAllowed) {
				err = aggregate.ErrNotAllowed{Rule: aggregate.RuleByForm}
			}
			if err != nil {
				return aggregate.Change{}, aggregate.Change{}, err
			}
			rejection, refused = Gate(beside.Kind, Reject(own.Request.Text))(other, gate.ID, by, policy, m.Now())
			if refused == nil || errors.Is(refused, aggregate.ErrConflict) {
				return end, rejection, refused
			}
			if end, err = own.GateOver(other, m.Now()); err != nil {
				err = refused
			}
			return end, aggregate.Change{}, err
		})
	})
	return v, gate, refused
}

// TakeAsAnswer makes a message in a gate's thread the answer to the question that waits there, as the answer's form
// does. One commit answers and ends the message's own task. gate is the click on that gate.
func (m Maker) TakeAsAnswer(ctx context.Context, c Click, shown string) (v Verdict, gate Click) {
	gate = c // the message's own, until the gate is known
	x, err := m.load(ctx, c.Ref)
	own, is := x.(*task.Aggregate)
	if err == nil && (!is || own.Choice == nil || own.Choice.ID != c.ID || own.Choice.Gate.Question == 0) {
		err = aggregate.ErrNotFound
	}
	if err != nil {
		return Verdict{Err: err}, gate
	}
	beside, text := own.Choice.Gate, ""
	gate.Ref.ID, gate.ID = beside.TaskID, beside.ID
	var by aggregate.Actor
	var policy aggregate.Policy
	answers := Gate(beside.Kind, func(a Subject, id string, actor aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		by, policy = actor, p
		return Answer(beside.Question, text)(a, id, actor, p, now)
	})
	v = m.judge(ctx, gate, answers, func(ctx context.Context, _ Subject,
		f aggregate.Decision[aggregate.Aggregate]) error {
		return m.Store.DecideBoth(ctx, gate.Ref, c.Ref, func(x, y aggregate.Aggregate) (answer, end aggregate.Change,
			err error) {
			own := y.(*task.Aggregate) // as its ref names
			text = own.Request.Text
			if answer, err = f(x); err == nil {
				end, err = own.TakeAsAnswer(c.ID, shown, by, policy, m.Now())
			}
			return answer, end, err
		})
	})
	return v, gate
}

// Rejects makes the act of a rejection's form. It returns aggregate.ErrMoved if the gate does not ask what the person
// saw.
func Rejects(r card.Rejected) Act {
	act := Reject(r.Reason)
	switch r.Kind {
	case circulation.Deny:
		act = Deny(r.Reason)
	case circulation.GiveBack:
		act = GiveBack(r.Reason)
	}
	return Shown(r.Type, r.Hash, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		if g := a.GateWith(id); r.Stage > 0 && (g == nil || g.AskedSum != r.Asked) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}
