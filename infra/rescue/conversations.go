package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/conversations"
)

// lookAgain prints what a conversation with an agent waits for. With apply it has relay and sweeper look at the
// conversation again. It decides nothing itself: decisions and calls stay as they are.
func lookAgain(ctx context.Context, all *conversations.Store, ref aggregate.Ref, apply bool, out io.Writer) error {
	a, err := all.Load(ctx, ref)
	if err != nil {
		return err
	}
	if a.Session == nil {
		return fmt.Errorf("%s: %w", ref, aggregate.ErrConflict) // a torn read
	}
	fmt.Fprintf(out, "conversation %s with %s: %s, run %s-%d %s; last changed %s\n", a.Head.SessionID,
		a.Session.AgentID, a.Session.Status, a.Head.SessionID, a.Head.Run,
		map[bool]string{true: "has ended", false: "is open, or died"}[a.Head.Resting], aggregate.TimeText(a.Head.ChangedAt))
	fmt.Fprintf(out, "%d messages are not answered\n", len(a.Inbox))
	for _, x := range a.Actions {
		if x.Status.Over() {
			continue
		}
		claim := ""
		if x.Claim != nil {
			claim = ", claimed until " + aggregate.TimeText(x.Claim.LeaseUntil)
		}
		fmt.Fprintf(out, "action %d (%s) is %s%s\n", x.Number, x.ActionType, x.Status, claim)
	}
	switch next := a.Next(time.Now()).State; next {
	case aggregate.StateFinish:
		fmt.Fprintln(out, "it waits for people, or for a claim to end: there is nothing to run")
	default:
		fmt.Fprintf(out, "a run has to go to %s\n", next)
	}
	if !apply {
		fmt.Fprintln(out, "nothing was written: add -apply to have it looked at again")
		return nil
	}
	if err := all.Redraw(ctx, ref); err != nil {
		return err
	}
	fmt.Fprintln(out, "it is looked at again, at once by the relay and within a minute by the sweeper, which begins its run if there is none")
	return nil
}
