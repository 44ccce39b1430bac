package decide

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// Act makes a change of a subject for a person. id names a gate, an execution, a choice or the subject itself.
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
		"retry_generation":      {Act: onWhole((*task.Aggregate).RetryGeneration), Withdraws: true, Retries: true},
		card.TakeAsRequest:      {Act: on((*task.Aggregate).TakeAsRequest), Withdraws: true},
		card.CancelAction:       {Act: on((*conversation.Aggregate).Cancel), Withdraws: true},
		card.SendFiles:          {Act: on((*conversation.Aggregate).SendFiles)},
		card.CheckAction:        {Act: on((*conversation.Aggregate).Check), Withdraws: true},
		card.MakeRequest:        {Act: on((*conversation.Aggregate).MakeRequest), Withdraws: true},
		card.ReopenConversation: {Act: onWhole((*conversation.Aggregate).Reopen)},
		card.BeginEmpty:         {Act: onWhole((*conversation.Aggregate).BeginEmpty)},
		card.FetchAgain:         {Act: onWhole((*conversation.Aggregate).FetchAgain)},
		card.TakeFiles:          {Act: on((*conversation.Aggregate).TakeFiles)},
	}
}

// End returns the button that ends a subject: it cancels a task or closes a conversation.
func End() Button { return Button{Act: onWhole(Subject.End), Withdraws: true} }

// Redraft has a corrected request drafted anew. shown is what the person read; see task.Correction.
func Redraft(shown string) Button {
	return Button{Act: onWhole(func(a *task.Aggregate, by aggregate.Actor, _ aggregate.Policy, now time.Time) (
		aggregate.Change, error) {
		return a.Redraft(shown, by, now)
	}), Withdraws: true}
}

// AskAgain withdraws what waits, because its requester asks again without the words of others.
func AskAgain() Act { return onWhole((*task.Aggregate).AskAgain) }

// on makes an act on one kind of subject. For other kinds it returns ErrNotFound.
func on[A Subject](decide func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(A)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(of, id, by, p, now)
	}
}

// onWhole makes an act on the subject itself, whose id the button carries.
func onWhole[A Subject](decide func(a A, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) Act {
	return on(func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if id != a.Ref().ID {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, by, p, now)
	})
}

// Shown makes an act on a gate of this type. It returns aggregate.ErrMoved if the gate's content does not have the hash
// of the content that the person saw.
func Shown(kind aggregate.CardType, hash string, act Act) Act {
	return Gate(kind, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if a.AskedHash(id) != hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// Gate makes an act on a gate that asks by this type of card.
func Gate(kind aggregate.CardType, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if kind == "" || a.AskedBy(id) != kind {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return act(a, id, by, p, now)
	}
}

// Approve stamps the gate's current content, at the stage that the person saw.
func Approve(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return along(a, id, circulation.Stamp, "", by, p, now)
}

// Approves reports whether this person's approval of the gate's current content would count, under a rule at its
// present stage.
func Approves(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) bool {
	if g := a.GateWith(id); g != nil {
		st := circulation.Walk(g.Circulating())
		by.Stage = st.Present
	}
	c, err := Approve(a, id, by, p, now)
	return err == nil && !c.Empty()
}

// Reject sends back a gate's content. It changes nothing if the same person has rejected it with the same reason. With
// another reason it returns ErrDecided because that reason would not be saved.
func Reject(reason string) Act {
	return once(reason, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		return along(a, id, circulation.SendBack, reason, by, p, now)
	})
}

// once makes an act that rejects a gate return ErrDecided if the same person has rejected it with another reason.
func once(reason string, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		c, err := act(a, id, by, p, now)
		if v := a.VerdictOn(id); err == nil && c.Empty() && v.RejectedAt != nil && v.RejectionReason != aggregate.SeenReason(reason) {
			return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: v.RejectedBy, At: *v.RejectedAt}
		}
		return c, err
	}
}

// MayReject checks whether a rejection would be accepted before the person gives a reason. Its change is never
// committed. It uses a reason that nobody can type, so it also refuses a person who has already rejected the gate.
func MayReject(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	if a.GateWith(id).Ruled() { // whatever may be sent back may be denied
		return Deny(untyped)(a, id, by, p, now)
	}
	return Reject(untyped)(a, id, by, p, now)
}

// untyped is a reason that people see and nobody can type.
const untyped = "?\x00"

// MayRead returns an empty change, and refuses a person who may not approve the subject.
func MayRead(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, p.Approve(by, a.Root().Common().Requester)
}
