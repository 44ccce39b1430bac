package decision

import (
	"context"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/session"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/sleep"
	"ringi/shared/slack/people"
)

// SessionStore is where decisions about sessions are made.
type SessionStore interface {
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
	Load(ctx context.Context, ref aggregate.Ref) (*session.Aggregate, error)
	Decide(ctx context.Context, ref aggregate.Ref, decide session.Decision) (*session.Aggregate, error)
}

// SessionMaker makes what a person wants of a session with an agent a commit, as Maker does of a task.
type SessionMaker struct {
	Store  SessionStore
	People *people.People
	Now    func() time.Time
}

// SessionAct is something that a person wants of a session.
type SessionAct struct {
	decide func(a *session.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error)
	action string // id of what it is about; empty: the session itself
	ends   bool   // who asked may do it, whoever else decides
}

// ApproveAction approves an action of which the person saw the content with this hash; aggregate.ErrMoved for another one.
func ApproveAction(id, hash string) SessionAct {
	return SessionAct{action: id, decide: func(a *session.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if x := a.Action(id); x != nil && x.Payload.Hash() != hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return a.Approve(id, hash, by, p, now)
	}}
}

// RejectAction rejects an action of which the person saw the content with this hash. Who rejected it already with another
// reason gets aggregate.ErrDecided, since this reason would not be saved.
func RejectAction(id, hash, reason string) SessionAct {
	return SessionAct{action: id, decide: func(a *session.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		x := a.Action(id)
		if x != nil && x.Payload.Hash() != hash {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		c, err := a.Reject(id, reason, by, p, now)
		if err == nil && c.Empty() && x.Gate.RejectionReason != strings.TrimSpace(reason) {
			return aggregate.Change{}, x.Gate.Decided()
		}
		return c, err
	}}
}

// CancelAction withdraws an action, or stops it.
func CancelAction(id string) SessionAct {
	return SessionAct{action: id, ends: true, decide: func(a *session.Aggregate, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		return a.Cancel(id, by, p, now)
	}}
}

// CloseSession ends the session.
func CloseSession() SessionAct { return SessionAct{ends: true, decide: (*session.Aggregate).Close} }

// ReopenSession begins anew in the thread of a session that was closed.
func ReopenSession() SessionAct { return SessionAct{decide: (*session.Aggregate).Reopen} }

// ReadSession changes nothing. It is refused as an approval of whatever the opener asked for would be, by the person alone.
func ReadSession() SessionAct {
	return SessionAct{decide: func(a *session.Aggregate, by aggregate.Actor, p aggregate.Policy, _ time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, p.Approve(by, a.Session.Opener)
	}}
}

// SessionVerdict is what became of an act.
type SessionVerdict struct {
	Outcome
	Session *session.Session // as it was before; nil when no such session was found
}

// Decide asks who the person is and whether they may, decides on the rows as they are now, and commits.
func (m SessionMaker) Decide(ctx context.Context, w people.Want, ref aggregate.Ref, act SessionAct) SessionVerdict {
	return m.judge(ctx, w, ref, act, func(ctx context.Context, f session.Decision) error {
		_, err := m.Store.Decide(ctx, ref, f)
		return err
	})
}

// Check decides without committing.
func (m SessionMaker) Check(ctx context.Context, w people.Want, ref aggregate.Ref, act SessionAct) SessionVerdict {
	return m.judge(ctx, w, ref, act, func(ctx context.Context, f session.Decision) error {
		a, err := m.Store.Load(ctx, ref)
		if err == nil {
			_, err = f(a)
		}
		return err
	})
}

func (m SessionMaker) judge(ctx context.Context, w people.Want, ref aggregate.Ref, act SessionAct, run func(context.Context, session.Decision) error) (v SessionVerdict) {
	ctx, cancel := sleep.Sparing(ctx, reserved)
	defer cancel()
	if v.Settings, v.Err = m.Store.Settings(ctx, ref.Tenant); v.Err != nil {
		v.Err = fmt.Errorf("read the settings: %w", v.Err)
		return v
	}
	if !session.ValidID(ref.ID) || act.action != "" && !aggregate.ValidID(act.action) {
		v.Err = aggregate.ErrNotFound
		return v
	}
	w.Withdraws = act.ends
	var by aggregate.Actor
	var policy aggregate.Policy
	v.Err = run(ctx, func(a *session.Aggregate) (aggregate.Change, error) {
		if a.Head.Forgotten(m.Now()) {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		if a.Session == nil {
			return aggregate.Change{}, aggregate.ErrConflict // a torn read
		}
		if v.Session == nil { // asked once, however often the decision is made again
			var err error
			if by, policy, err = m.People.Who(ctx, w, a.Session.Origin(), v.Settings); err != nil {
				return aggregate.Change{}, err
			}
		}
		v.Session, v.Asked = a.Session, time.Time{}
		if x := a.Action(act.action); x != nil && x.Status == session.ActionPending && !act.ends {
			v.Asked = x.CreatedAt
		}
		change, err := act.decide(a, by, policy, m.Now())
		v.Empty = err == nil && change.Empty()
		return change, err
	})
	return v
}
