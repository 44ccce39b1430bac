package decide

import (
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// Act turns what a person wants of a subject into a change. id is of what it is about: a gate's, an execution's, a
// choice's or the subject's own.
type Act func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)

// Button is an act that needs nothing but a click.
type Button struct {
	Act
	Withdraws, Retries bool // as in people.Want
}

// Buttons are those of cards beside the ones that approve or reject, by action_id.
func Buttons() map[string]Button {
	return map[string]Button{
		"cancel_execution":      {Act: on((*task.Aggregate).CancelExecution), Withdraws: true},
		"retry_execution":       {Act: on((*task.Aggregate).RetryExecution), Withdraws: true, Retries: true},
		"retry_generation":      {Act: onWhole((*task.Aggregate).RetryGeneration), Withdraws: true, Retries: true},
		card.TakeAsRequest:      {Act: on((*task.Aggregate).TakeAsRequest), Withdraws: true},
		card.CancelAction:       {Act: on((*conversation.Aggregate).Cancel), Withdraws: true},
		card.ReopenConversation: {Act: onWhole((*conversation.Aggregate).Reopen)},
	}
}

// End is the button that ends a subject: it cancels a task, and closes a conversation.
func End() Button { return Button{Act: onWhole(Subject.End), Withdraws: true} }

// on is an act on one kind of subject. There is nothing of the kind in any other.
func on[A Subject](decide func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		of, is := a.(A)
		if !is {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(of, id, by, p, now)
	}
}

// onWhole is an act on the subject itself, whose id the button carries.
func onWhole[A Subject](decide func(a A, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)) Act {
	return on(func(a A, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if id != a.Ref().ID {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return decide(a, by, p, now)
	})
}

// Pressed is an act by a card's button on a gate of this type: the button and its value name the same. A hash is of
// what the card shows; a task's cards carry none.
func Pressed(kind aggregate.CardType, hash string, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if _, bare := a.(*task.Aggregate); bare && hash == "" {
			return Gate(kind, act)(a, id, by, p, now)
		}
		return Shown(kind, hash, act)(a, id, by, p, now)
	}
}

// Shown is an act on a gate of this type of which the person saw the content with this hash; aggregate.ErrMoved for
// another one.
func Shown(kind aggregate.CardType, hash string, act Act) Act {
	return Gate(kind, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if a.AskedHash(id) != hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// Gate is an act on a gate that this type of card asks about.
func Gate(kind aggregate.CardType, act Act) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if kind == "" || a.AskedBy(id) != kind {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return act(a, id, by, p, now)
	}
}

// Approve stamps what the gate asks about as it is now.
func Approve(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return a.ApproveRead(id, a.AskedHash(id), by, p, now)
}

// Approves reports whether this person's approval of what the gate asks about now would count.
func Approves(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) bool {
	c, err := Approve(a, id, by, p, now)
	return err == nil && !c.Empty()
}

// Reject sends back what a gate asks about. It changes nothing where the same person rejected it with the same reason
// before. With another reason it returns ErrDecided, since this reason would not be saved.
func Reject(reason string) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		c, err := a.Reject(id, reason, by, p, now)
		if v := a.VerdictOn(id); err == nil && c.Empty() && v.RejectedAt != nil && v.RejectionReason != strings.TrimSpace(reason) {
			return aggregate.Change{}, aggregate.ErrDecided{Status: string(aggregate.Rejected), By: v.RejectedBy, At: *v.RejectedAt}
		}
		return c, err
	}
}

// MayReject checks, before a reason is given, whether one would be taken: it is never committed. Whoever rejected the
// gate before is told so, as anybody else is: a second reason would not be saved. The reason here is one that nobody
// can type.
func MayReject(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return Reject("\x00")(a, id, by, p, now)
}

// MayRead changes nothing. It is refused as an approval of whatever was asked for would be, by the person alone.
func MayRead(a Subject, _ string, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
	return aggregate.Change{}, p.Approve(by, a.Root().Common().Requester)
}
