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

// Follow ends a call that waits, or is stamped and not begun, if its key was revoked, has ended or lost the tool. It
// notes when the key ends.
func (a *Aggregate) Follow(k tenancy.Key, now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || x.KeyID != k.ID || !x.ahead() {
		return aggregate.Change{}, nil
	}
	if why, over := errors.AsType[tenancy.ErrKey](k.Holds(x.Tool, now)); over {
		return a.cancel(aggregate.System(), KeyReason(why), now)
	}
	if x.KeyUntil.Equal(k.ExpiresAt) {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	c.row.KeyUntil = k.ExpiresAt
	return c.done()
}

// keyEnds is Follow for a key that has ended. It returns ErrNotDue before.
func (a *Aggregate) keyEnds(now time.Time) (aggregate.Change, error) {
	x := a.Call
	if x == nil || !x.ahead() || now.Before(x.KeyUntil) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	return a.cancel(aggregate.System(), ReasonKey, now)
}

// Reasons for a call that isn't made because of its key: it was revoked or has expired, or lost the tool.
const (
	ReasonKey     aggregate.Reason = "key_over"
	ReasonKeyTool aggregate.Reason = "key_tool"
)

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
