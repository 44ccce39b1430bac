package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/store"
	"ringi/shared/store/conversations"
)

// talks look after conversations with agents. They decide nothing: what people approved, and what was called, stays as
// it is.
type talks struct {
	sessions *conversations.Store
	apply    bool
	out      io.Writer
}

// again says what a conversation waits for, and has it looked at again.
func (t *talks) again(ctx context.Context, ref aggregate.Ref) error {
	a, err := t.sessions.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Session == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	fmt.Fprintf(t.out, "conversation %s with %s: %s, run %s-%d %s; last changed %s\n", a.Head.SessionID,
		a.Session.AgentID, a.Session.Status, a.Head.SessionID, a.Head.Run,
		map[bool]string{true: "has ended", false: "is open, or died"}[a.Head.Resting], moment(a.Head.ChangedAt))
	fmt.Fprintf(t.out, "%d messages are not answered\n", len(a.Inbox))
	for _, x := range a.Actions {
		if x.Status.Over() {
			continue
		}
		claim := ""
		if x.Claim != nil {
			claim = ", claimed until " + moment(x.Claim.LeaseUntil)
		}
		fmt.Fprintf(t.out, "action %d (%s) is %s%s\n", x.Number, x.ActionType, x.Status, claim)
	}
	switch next := a.Next(time.Now()).State; next {
	case aggregate.StateFinish:
		fmt.Fprintln(t.out, "it waits for people, or for a claim to end: there is nothing to run")
	default:
		fmt.Fprintf(t.out, "a run has to go to %s\n", next)
	}
	if !t.apply {
		fmt.Fprintln(t.out, "nothing was written: add -apply to have it looked at again")
		return nil
	}
	if err := t.sessions.Redraw(ctx, ref); err != nil {
		return err
	}
	fmt.Fprintln(t.out, "it is looked at again, at once by the relay and within a minute by the sweeper, which begins its run if there is none")
	return nil
}

func newTalks(s *store.Store, apply bool, out io.Writer) *talks {
	return &talks{conversations.Of(s), apply, out}
}

// sessionRef is what -session names.
func sessionRef(tenant, id string) (aggregate.Ref, error) {
	if !aggregate.ValidID(tenant) || !conversation.ValidID(id) {
		return aggregate.Ref{}, fmt.Errorf("-session %.80q is not <tenant>/<session>, an id of 26 characters and a UUID", tenant+"/"+id)
	}
	return conversation.RefOf(tenant, id), nil
}
