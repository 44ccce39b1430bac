package call

import (
	"errors"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// ahead reports whether the call waits, or is stamped and not begun.
func (x *Call) ahead() bool { return !x.Over() && x.Status != conversation.ActionExecuting }

// Follow ends a call that waits, or is stamped and not begun, if its key was revoked, has ended or lost the tool, or if
// who answers for it now has stamped the call, or caused a stamp. It notes when the key ends, and who answers.
func (a *Aggregate) Follow(k tenancy.Key, answers aggregate.Answerer, now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || x.KeyID != k.ID || !x.ahead() {
		return aggregate.Change{}, nil
	}
	if why, over := errors.AsType[tenancy.ErrKey](k.Holds(x.Tool, now)); over {
		return a.cancel(aggregate.System(), KeyReason(why), now)
	}
	if x.Gate.StampedBy(answers) {
		return a.cancel(aggregate.System(), ReasonKeySelf, now)
	}
	c := a.begin(now)
	if c.row.KeyUntil, c.row.AnswersNow = k.ExpiresAt, k.Answers; k.Answers == x.Answers {
		c.row.AnswersNow = ""
	}
	if c.row.Gate.Answers = nil; c.row.AnswersNow != "" {
		c.row.Gate.Answers = &answers.Person
	}
	if x.KeyUntil.Equal(k.ExpiresAt) && x.AnswersNow == c.row.AnswersNow {
		return aggregate.Change{}, nil
	}
	return c.done()
}

// Fate is what becomes of a call that waits once its key is changed.
type Fate string

const (
	FateEnds  Fate = "ends"
	FateStuck Fate = "waits" // until an administrator puts somebody in the place of who answers for the key now
	FateOn    Fate = "on"
)

// Fate says what becomes of the call by Follow.
func (x *Call) Fate(k tenancy.Key, answers aggregate.Answerer, now time.Time) Fate {
	g := x.Gate
	if g.Answers = nil; k.Answers != x.Answers {
		g.Answers = &answers.Person
	}
	switch {
	case k.Holds(x.Tool, now) != nil || g.StampedBy(answers):
		return FateEnds
	case len(g.Stuck(func(string) bool { return false })) > 0:
		return FateStuck
	}
	return FateOn
}

// keyEnds is Follow for a key that has ended. It returns ErrNotDue before.
func (a *Aggregate) keyEnds(now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || !x.ahead() || now.Before(x.KeyUntil) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.cancel(aggregate.System(), ReasonKey, now)
}

// Reasons for a call that isn't made because of its key: it was revoked or has expired, lost the tool, or who answers
// for it now, and counts as asker, has stamped the call or caused a stamp.
const (
	ReasonKey     aggregate.Reason = "key_over"
	ReasonKeyTool aggregate.Reason = "key_tool"
	ReasonKeySelf aggregate.Reason = "key_self"
)

// ErrSelf says that who answers for the key now has stamped the call, or caused a stamp. Nobody stamps what they ask
// for, nor chooses who does.
var ErrSelf = errors.New("who answers for the key now has stamped the call, or chosen who did")

// KeyReason returns the reason for what Key.Holds says.
func KeyReason(e tenancy.ErrKey) aggregate.Reason {
	if e.Why == tenancy.KeyTool {
		return ReasonKeyTool
	}
	return ReasonKey
}

// forgottenAt returns when nothing is left of a call that ended without anybody's act, nil for any other.
func (x *Call) forgottenAt() *time.Time {
	if !x.Over() || len(x.Gate.Acts) > 0 || x.KeepDays == 0 {
		return nil
	}
	at := x.CompletedAt.AddDate(0, 0, x.KeepDays)
	return &at
}

// Forgotten reports whether all of the call's rows must be deleted at now.
func (a *Aggregate) Forgotten(now time.Time) bool {
	if a.Call == nil {
		return false
	}
	at := a.Call.forgottenAt()
	return at != nil && !now.Before(*at)
}
